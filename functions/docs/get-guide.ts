import * as v from "valibot";
import { type GuidePorts, guideLinks, guidePage } from "#shared/docs/guides.ts";
import { parsePageName, respondWithPage } from "#shared/docs/page.ts";
import { notFound } from "#shared/errors.ts";
import { type PublicPorts, publicEndpoint } from "#shared/http/endpoint.ts";
import { HTML } from "#shared/http/response.ts";

/**
 * GET /docs/guides/{guide}: returns a page of the documentation as HTML. With `.md` at the end of the name, the response is
 * Markdown.
 */
export const getGuide = publicEndpoint({
  request: { path: v.object({ guide: v.pipe(v.string(), v.maxLength(100)) }) },
  reply: { 200: HTML },
  async run({ path }, { baseUrl, guides }: PublicPorts & GuidePorts) {
    const { name, isMarkdown } = parsePageName(path.guide);
    const page = guidePage(name, guides(), baseUrl);
    if (page === undefined) throw notFound("page");
    return respondWithPage(page, { baseUrl, isMarkdown, toUrl: guideLinks(baseUrl) });
  },
});
