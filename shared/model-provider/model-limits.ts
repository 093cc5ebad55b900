/** The limits of a model, as far as they are known. */
export interface ModelLimits {
  /** The context window in tokens. */
  readonly contextTokens?: number;
  /** The most tokens of one response. */
  readonly outputTokens?: number;
  /** Whether it is shown the tools of a request. */
  readonly tools?: boolean;
}
