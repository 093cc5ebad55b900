import { Artifacts as Operations } from "../generated/resources.ts";
import type { RequestOptions } from "../options.ts";

export class Artifacts extends Operations {
  /** Downloads the content of an artifact, including the text of a plan, as a streamed response. */
  async download(artifactUid: string, options?: RequestOptions): Promise<Response> {
    const { data } = await this.retrieve(artifactUid, options);
    if ("content" in data) {
      return new Response(String(data.content), { headers: { "content-type": data.content_type } });
    }
    return this.transport.storage(data.download_url, {}, options);
  }
}
