import { Artifacts as Operations } from "../generated/resources.ts";
import type { RequestOptions } from "../options.ts";

export class Artifacts extends Operations {
  /** What an artifact holds, as an answer whose body is a stream; a plan's text too. */
  async download(artifactUid: string, options?: RequestOptions): Promise<Response> {
    const { data } = await this.retrieve(artifactUid, options);
    if ("content" in data) {
      return new Response(String(data.content), { headers: { "content-type": data.content_type } });
    }
    return this.transport.storage(data.download_url, {}, options);
  }
}
