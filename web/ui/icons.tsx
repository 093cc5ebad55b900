import { LoaderCircle } from "lucide-react";

/** An icon that stands for work in progress. */
export const Spinner = ({ label }: { readonly label?: string }) => (
  <span
    className="spinner"
    {...(label === undefined ? { "aria-hidden": true } : { role: "status", "aria-label": label })}
  >
    <LoaderCircle size={16} aria-hidden />
  </span>
);
