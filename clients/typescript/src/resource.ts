import type { Transport } from "./transport.ts";

/** A group of methods, such as `client.runs`. */
export class APIResource {
  /** @internal */
  protected readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }
}
