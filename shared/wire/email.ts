import * as v from "valibot";
import { textOfBytes } from "./primitives.ts";

/**
 * The characters and labels that HTML accepts in an address (`input type=email`), all of them ASCII: an address with a letter of another
 * script, a zero-width or a bidirectional character looks like another person's, and is compared as it or not at all.
 */
const EMAIL =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

/** An email address that can name an account. Only its format is checked. */
export const EmailAddress = v.pipe(
  textOfBytes(320, 3),
  v.regex(EMAIL, "must be an email address in ASCII characters, such as ada@example.com or ada@xn--bcher-kva.example"),
);

/** Whether an address can name an account: in invitations, in profiles, at the sign-in and at the first start. */
export const isEmailAddress = (value: unknown): value is string => v.is(EmailAddress, value);
