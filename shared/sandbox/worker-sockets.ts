/** The port of the sockets of self-hosted workers. */
export interface WorkerSockets {
  /**
   * Sends a frame. Resolves with false if the connection is closed; throws if it cannot be sent for another reason.
   * @param frame a JSON text of at most 128 KB
   */
  post(connectionId: string, frame: string): Promise<boolean>;
  /** Closes a connection; does nothing if it is closed already. */
  close(connectionId: string): Promise<void>;
}
