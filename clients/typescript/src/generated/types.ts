// Generated from docs/openapi.json by `npm run docs`. Do not edit.
interface components {
    schemas: {
        /**
         * @description The agents of the Agent Client Protocol whose versions come with the sandbox.
         * @enum {string}
         */
        AcpAgentName: "opencode" | "qwen-code";
        /** @description The skills with one name. */
        AgentItem: {
            /** @description The skill's name. */
            name: string;
            /** @description The skills with this name, one per repository. */
            variants: components["schemas"]["AgentVariant"][];
        };
        /** @description A skill in one repository. */
        AgentVariant: {
            /** @description The skill's id, `{owner}/{repo}:{path}`. Pass it as `skill` or `skill_spec` of a run. */
            id: string;
            /** @description The skill's description of itself. Empty if the skill is malformed. */
            description: string;
            /** @description The instructions for the agent: the Markdown after the front matter. */
            base_prompt: string;
            /** @description The location of the skill. */
            source: {
                /** @description The repository's owner: the second-to-last segment of its URL. */
                owner: string;
                /** @description The repository's name. */
                name: string;
                /** @description The path of the skill's file in the repository. */
                skill_path: string;
                /** @description The self-hosted worker that has the skill. */
                worker_host?: string;
            };
            /** @description The caller's environments with this repository. */
            environments: {
                /** @description The environment's id. */
                uid: string;
                /** @description The environment's name. */
                name: string;
            }[];
            /** @description The creation time of the latest run with the skill. Null before the first, absent if unknown. */
            last_run_timestamp?: string | null;
            /** @description What is wrong with the file, with the line number. Absent for a valid skill. */
            error?: string;
        };
        /** @description The configuration of an agent. */
        AmbientAgentConfig: {
            /** @description The configuration's name. Defaults to the name of the skill. */
            name?: string;
            /** @description The model's id. Defaults to the team's model. At most 512 bytes in UTF-8. */
            model_id?: string;
            /** @description Models that the agent continues with, in this order, while a provider is down. */
            fallback_model_ids?: string[];
            /** @description How much the model reasons before it responds. A model without the level gets the nearest one that it has, and one that does not reason gets none. Defaults to the model's own. */
            reasoning_level?: components["schemas"]["ReasoningLevel"];
            /** @description The JSON Schema, of at most 64 KiB, that the agent's final message has to fit. An agent whose message does not is asked again, up to twice; then the run ends FAILED with `invalid_request`. GET /agent/runs/{runId}/response shows the value in `structured`. */
            output_schema?: components["schemas"]["OutputSchema"];
            /** @description Calls that wait until a person approves them, at most 20. A run waits as `BLOCKED` with `waiting_for` `approval`. The rules of a parent hold for its children. */
            approvals?: {
                /**
                 * @description The tool's name in the conversation. Tools of MCP servers are called by `call_mcp_tool`.
                 * @enum {string}
                 */
                tool: "ask_user" | "call_mcp_tool" | "create_plan" | "create_pull_request" | "edit_files" | "get_mcp_prompt" | "glob" | "load_skill" | "message_agent" | "notify_user" | "read_command" | "read_files" | "read_mcp_resource" | "report_artifact" | "run_command" | "search_files" | "start_agent" | "stop_command" | "todo" | "wait_for_agents" | "web_fetch" | "write_command";
                /** @description A text in the command, or in the arguments as JSON of a tool without a command. `*` stands for any text, and line breaks and several spaces count as one space. Defaults to every call of the tool. At most 1024 bytes in UTF-8. */
                match?: string;
            }[];
            /** @description The author and committer of commits that set none, such as `Build Bot <bot@example.com>`. At most 512 bytes in UTF-8. Must be a name and an email address, such as Build Bot <bot@example.com>. */
            commit_author?: string;
            /** @description Additional instructions for the agent. At most 65536 bytes in UTF-8. */
            base_prompt?: string;
            /** @description The environment to set up before the agent starts. At most 512 bytes in UTF-8. */
            environment_id?: string;
            /** @description The skill to start from. Excludes `skills`. At most 512 bytes in UTF-8. Must have the form owner/repo:skill-name or owner/repo:path/to/SKILL.md. */
            skill_spec?: string;
            /** @description The skills to load, at most 20. Excludes `skill_spec`. */
            skills?: string[];
            /** @description The agent's MCP servers: a map from name to server, at most 50. */
            mcp_servers?: {
                /** @description The server's name, unique in the list. */
                name: string;
                /** @description The id of a shared server. This release reports such a server to the agent as unavailable. At most 512 bytes in UTF-8. */
                warp_id?: string;
                /** @description The program to start in the sandbox. At most 4096 bytes in UTF-8. */
                command?: string;
                /** @description The program's arguments, at most 64. */
                args?: string[];
                /** @description The program's environment variables. Values are secrets: responses show `***`. */
                env?: {
                    [key: string]: string;
                };
                /** @description The URL of a remote server. Must be an http or https URL. */
                url?: string;
                /** @description The HTTP headers of each request to the server. Values are secrets: responses show `***`. */
                headers?: {
                    [key: string]: string;
                };
                /** @description Whether the server is kept in the configuration without being started or connected to. Defaults to false. */
                disabled?: boolean;
                /** @description The server's tools that the agent may use: those of `include`, or all, without those of `exclude`. */
                tools?: {
                    /** @description The tools to use, at most 100. Defaults to all. */
                    include?: string[];
                    /** @description The tools not to use, at most 100. */
                    exclude?: string[];
                };
            }[] | {
                [key: string]: components["schemas"]["MCPServerConfig"];
            };
            /** @description The Git repositories to clone before the agent starts, at most 10. */
            repositories?: components["schemas"]["Repository"][];
            /** @description Whether the agent may use a screen. Has no effect in this release. Defaults to false. */
            computer_use_enabled?: boolean;
            /** @description Minutes for which an interactive or interrupted run waits for a follow-up, 0 to 60. With 0, it ends with its turn. Defaults to 10. */
            idle_timeout_minutes?: number;
            /** @description The id of the self-hosted worker that executes the run. Defaults to `hosted`, a sandbox of the service. At most 512 bytes in UTF-8. */
            worker_host?: string;
            /** @description The limit of what the run and its descendants may spend on models, in US dollars. Defaults to the budget of the parent run. */
            budget_usd?: number;
            /** @description Minutes from the run's first start after which it ends FAILED with `budget_exceeded`, 1 to 10,080. A follow-up starts them again. Not limited by default. */
            timeout_minutes?: number;
            /** @description Model responses of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 10,000. A follow-up starts the count again. Not limited by default. */
            max_steps?: number;
            /** @description Tokens of input and output of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 1,000,000,000. A follow-up starts the count again. Not limited by default. */
            max_total_tokens?: number;
            /** @description The program that runs the agent. Responses omit it for the default harness. */
            harness?: {
                /**
                 * @description The harness to use. `oz` is an alias of `default`; `acp` is any agent that speaks the Agent Client Protocol: `agent` names one that comes with the sandbox, or `command` starts another.
                 * @enum {string}
                 */
                type: "default" | "oz" | "claude" | "codex" | "gemini" | "acp";
                /** @description The model of this harness. Defaults to the configuration's `model_id`. At most 512 bytes in UTF-8. */
                model_id?: string;
                /** @description The reasoning level, which precedes that of the configuration. Third-party harnesses have names of their own. */
                reasoning_level?: string;
                /** @description An agent of the type `acp` that comes with the sandbox, in a pinned version. */
                agent?: components["schemas"]["AcpAgentName"];
                /** @description The command that starts an agent of the type `acp` in the sandbox, for bash. It speaks over its standard streams. At most 4096 bytes in UTF-8. */
                command?: string;
            };
            /** @description The secrets with the API keys for the run's calls to Anthropic's and OpenAI's models, in place of the deployment's keys. The model gateway uses them; the run's sandbox does not get them. */
            harness_auth_secrets?: {
                /** @description The name of the secret with the API key for Anthropic's models. */
                claude_auth_secret_name?: string;
                /** @description The name of the secret with the API key for OpenAI's models. */
                codex_auth_secret_name?: string;
            };
            /** @description The team's secrets that commands get as environment variables, besides those of the environment and the identity, at most 50. */
            secrets?: {
                /** @description The secret's name. Must have 1 to 128 of the characters A-Z a-z 0-9 _ . - and start with a letter, digit or underscore. */
                name: string;
            }[];
            /** @description Whose credentials the run uses: its creator's or its executor's. Has no effect in this release. */
            credential_strategy?: ("CREATOR" | "EXECUTOR") | null;
            /** @description Public access to the run's session. Off by default. */
            session_sharing?: {
                /**
                 * @description The access of anyone with the link. `EDITOR` has the effect of `VIEWER` in this release.
                 * @enum {string}
                 */
                public_access?: "VIEWER" | "EDITOR";
            };
        };
        /** @description The call that a run waits for as responses show it. */
        Approval: {
            /** @description The id of the request, for `approve` or `deny` of a follow-up. */
            approval_id: string;
            /** @description The tool's name. */
            tool: string;
            /** @description The beginning of the arguments as JSON. */
            arguments: string;
            /** @description The id of the call in the conversation, which has the complete arguments. */
            action_id: string;
        };
        /** @description The exact call of a tool that waits for an approval. */
        ApprovalCall: {
            /** @description The id of the call in the conversation. At most 512 bytes in UTF-8. */
            action_id: string;
            /** @description The tool's name. At most 512 bytes in UTF-8. */
            tool: string;
            /** @description The arguments of the call. */
            input: {
                [key: string]: unknown;
            };
        };
        /** @description What a person decided about a call. */
        ApprovalDecision: {
            /** @description Whether the call is approved. */
            approved: boolean;
            /** @description SHA-256 of the call as the person saw it. */
            digest: string;
            /** @description The name of the person who decided. */
            by: string;
        };
        /** @description The result of a bulk archival. */
        ArchiveRunsResponse: {
            /** @description The ids of the runs that matched and are archived now. */
            archived: string[];
            /** @description The number of runs of this page that matched. */
            matched: number;
            /** @description The runs that could not be changed. */
            refused: {
                /** @description The run's id. */
                run_id: string;
                /** @description The error code that the request for this run alone returns. */
                error_code: string;
            }[];
            /** @description Whether more runs may match. If so, send the request again with `next_cursor` as `cursor`. */
            page_info: components["schemas"]["PageInfo"];
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description An artifact as part of a run: metadata only. */
        ArtifactItem: {
            /**
             * @description The type of the artifact.
             * @constant
             */
            artifact_type: "PLAN";
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /** @description The artifact's metadata. Its shape depends on `artifact_type`. */
            data: {
                /** @description The document's id within the run. */
                document_uid: string;
                /** @description The id of the notebook that contains the document. */
                notebook_uid?: string;
                /** @description The artifact's id. */
                artifact_uid?: string;
                /** @description The artifact's title. */
                title?: string;
                /** @description The URL of the document, pull request or external resource. */
                url?: string;
            };
        } | {
            /**
             * @description The type of the artifact.
             * @constant
             */
            artifact_type: "PULL_REQUEST";
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /** @description The artifact's metadata. Its shape depends on `artifact_type`. */
            data: {
                /** @description The URL of the document, pull request or external resource. */
                url: string;
                /** @description The branch of the pull request. */
                branch: string;
                /** @description The status of the pull request when it was last reported; `unknown` if the report did not name it. */
                status: components["schemas"]["PullRequestStatus"];
            };
        } | {
            /**
             * @description The type of the artifact.
             * @constant
             */
            artifact_type: "SCREENSHOT";
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /** @description The artifact's metadata. Its shape depends on `artifact_type`. */
            data: {
                /** @description The artifact's id. */
                artifact_uid: string;
                /** @description The file's media type. */
                mime_type: string;
                /** @description A description of the artifact, at most 1,024 characters. */
                description?: string;
            };
        } | {
            /**
             * @description The type of the artifact.
             * @constant
             */
            artifact_type: "FILE";
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /** @description The artifact's metadata. Its shape depends on `artifact_type`. */
            data: {
                /** @description The artifact's id. */
                artifact_uid: string;
                /** @description The file's path in the workspace. */
                filepath: string;
                /** @description The file's name. */
                filename: string;
                /** @description The file's media type. */
                mime_type: string;
                /** @description A description of the artifact, at most 1,024 characters. */
                description?: string;
                /** @description The file's size in bytes. */
                size_bytes?: number;
                /** @description The artifact's title. */
                title?: string;
                /** @description What the patch in this file changes. Only in files of repository changes. */
                git?: components["schemas"]["GitChanges"];
            };
        } | {
            /**
             * @description The type of the artifact.
             * @constant
             */
            artifact_type: "EXTERNAL_REFERENCE";
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /** @description The artifact's metadata. Its shape depends on `artifact_type`. */
            data: {
                /** @description The type of the external resource, such as `issue`. */
                reference_type: string;
                /** @description The URL of the document, pull request or external resource. */
                url: string;
                /** @description The artifact's title. */
                title?: string;
                /** @description Labels of the reference: at most 20 keys, with values of at most 256 bytes. */
                metadata?: components["schemas"]["Metadata"];
            };
        };
        /** @description A single artifact: a plan with its text, or a file with a time-limited download URL. */
        ArtifactResponse: {
            /** @description The artifact's id. */
            artifact_uid: string;
            /**
             * @description The type of the artifact.
             * @constant
             */
            artifact_type: "PLAN";
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /** @description The artifact's content or download URL. Its shape depends on `artifact_type`. */
            data: {
                /** @description The document's id within the run. */
                document_uid: string;
                /** @description The id of the notebook that contains the document. */
                notebook_uid: string;
                /** @description The artifact's title. */
                title?: string;
                /** @description The URL of the document in an external system. */
                url?: string;
                /** @description The current text of the document, in Markdown. */
                content: string;
                /**
                 * @description The media type of the content or the file.
                 * @constant
                 */
                content_type: "text/markdown";
            };
        } | {
            /** @description The artifact's id. */
            artifact_uid: string;
            /**
             * @description The type of the artifact.
             * @constant
             */
            artifact_type: "SCREENSHOT";
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /** @description The artifact's content or download URL. Its shape depends on `artifact_type`. */
            data: {
                /**
                 * Format: uri
                 * @description A time-limited URL of the file. Do not send credentials to it.
                 */
                download_url: string;
                /**
                 * Format: date-time
                 * @description The expiry time of the URL.
                 */
                expires_at: string;
                /** @description The media type of the content or the file. */
                content_type: string;
                /** @description A description of the artifact, at most 1,024 characters. */
                description?: string;
            };
        } | {
            /** @description The artifact's id. */
            artifact_uid: string;
            /**
             * @description The type of the artifact.
             * @constant
             */
            artifact_type: "FILE";
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /** @description The artifact's content or download URL. Its shape depends on `artifact_type`. */
            data: {
                /**
                 * Format: uri
                 * @description A time-limited URL of the file. Do not send credentials to it.
                 */
                download_url: string;
                /**
                 * Format: date-time
                 * @description The expiry time of the URL.
                 */
                expires_at: string;
                /** @description The media type of the content or the file. */
                content_type: string;
                /** @description The file's path in the workspace. */
                filepath: string;
                /** @description The file's name. */
                filename: string;
                /** @description The artifact's title. */
                title?: string;
                /** @description A description of the artifact, at most 1,024 characters. */
                description?: string;
                /** @description The file's size in bytes. */
                size_bytes?: number;
                /** @description What the patch in this file changes. Only in files of repository changes. */
                git?: components["schemas"]["GitChanges"];
            };
        };
        /**
         * @description The type of an artifact. `SCREENSHOT` and `FILE` have a file, `PLAN` has a text, the others have a URL only.
         * @enum {string}
         */
        ArtifactType: "PLAN" | "PULL_REQUEST" | "SCREENSHOT" | "FILE" | "EXTERNAL_REFERENCE";
        /** @description A request that changed something, or that was refused. */
        AuditEvent: {
            /** @description The event's id. */
            id: string;
            /**
             * Format: date-time
             * @description The time of the request.
             */
            at: string;
            /** @description The person or identity that sent the request. */
            actor: components["schemas"]["RunCreatorInfo"];
            /** @description What the actor authenticated with (`key`, `session`), or what acted for them. */
            via: components["schemas"]["AuditVia"];
            /** @description The last four characters of the API key of the request. */
            key_suffix?: string;
            /** @description What was requested, such as `keys.delete`. */
            action: string;
            /** @description What the request was about. */
            target: components["schemas"]["AuditTarget"];
            /** @description The trace id of the request. Of runs and follow-ups that no request or an earlier release created: the event's id. */
            request_id: string;
            /** @description The IP address that the request came from, as the gateway saw it. */
            ip?: string;
            /** @description The names of the request's members. */
            changes?: string[];
            /** @description The filter of a request that changes all runs that match it. The text of `q` is replaced by `***`. */
            filter?: {
                [key: string]: string | number | string[] | {
                    [key: string]: string;
                };
            };
            /** @description The number of runs of the team that matched when the request began to change them. */
            matched?: number;
            /**
             * @description True if the request was refused and changed nothing.
             * @constant
             */
            refused?: true;
        };
        /** @description What a request was about. */
        AuditTarget: {
            /** @description The type of the resource, such as `key` or `run`. */
            type: string;
            /** @description The resource's id. */
            uid: string;
            /** @description The resource's name. Absent if it has none. */
            name?: string;
        };
        /**
         * @description What the caller of a request authenticated with, or what acted for them.
         * @enum {string}
         */
        AuditVia: "key" | "session" | "trigger" | "schedule" | "service";
        /** @description A block of a message: text, an action, the result of an action, or an event. */
        Block: {
            /**
             * @description The type of the block.
             * @constant
             */
            type: "text";
            /** @description The text of the block. At most 262144 bytes in UTF-8. */
            text: string;
            /** @description The id of the message that the block belongs to. At most 512 bytes in UTF-8. */
            message_id?: string;
        } | {
            /**
             * @description The type of the block.
             * @constant
             */
            type: "action";
            /** @description The action's id. At most 512 bytes in UTF-8. */
            id: string;
            /**
             * @description The category of the action.
             * @enum {string}
             */
            category: "command" | "files" | "search" | "integration" | "documents" | "computer" | "review" | "skill";
            /** @description The name of the action or event. */
            name: string;
            /** @description What the action does, for people, such as `Read calc.py`. Must be one line without control characters. */
            title?: string;
            /** @description The action's input. Its shape depends on `name`. */
            input: unknown;
            /** @description The id of the message that the block belongs to. At most 512 bytes in UTF-8. */
            message_id?: string;
        } | {
            /**
             * @description The type of the block.
             * @constant
             */
            type: "action_result";
            /** @description The id of the action that produced this result. At most 512 bytes in UTF-8. */
            action_id: string;
            /**
             * @description The category of the action.
             * @enum {string}
             */
            category: "command" | "files" | "search" | "integration" | "documents" | "computer" | "review" | "skill";
            /** @description The name of the action or event. */
            name: string;
            /** @description What the action does, for people, such as `Read calc.py`. Must be one line without control characters. */
            title?: string;
            /** @description What came of the action, or why it failed, for people: such as `+1 −1` or `1 match`. Must be one line without control characters. */
            summary?: string;
            /** @description The change of files by the action, as a unified diff. The output does not repeat it. At most 65536 bytes in UTF-8. */
            diff?: string;
            /**
             * @description The state of the action.
             * @enum {string}
             */
            state: "running" | "completed" | "failed" | "denied";
            /** @description The action's output. Responses truncate large outputs and say so. */
            output: unknown;
            /** @description The id of the message that the block belongs to. At most 512 bytes in UTF-8. */
            message_id?: string;
        } | {
            /**
             * @description The type of the block.
             * @constant
             */
            type: "event";
            /** @description The name of the action or event. */
            name: string;
            /** @description The content of the event. Its shape depends on `name`. */
            data: unknown;
            /** @description The id of the message that the block belongs to. At most 512 bytes in UTF-8. */
            message_id?: string;
        };
        /** @description The runs to cancel. */
        CancelRunsRequest: {
            /** @description The runs to cancel. Takes the filters of `GET /agent/runs`, at least one. */
            filter: components["schemas"]["RunFilter"];
            /** @description Whether to cancel `PENDING`, `CLAIMED` and self-hosted runs as well. Defaults to false. */
            force?: boolean;
            /** @description The `next_cursor` of the previous response, to continue after the runs that it processed. At most 4096 bytes in UTF-8. */
            cursor?: string;
        };
        /** @description The result of a bulk cancellation. */
        CancelRunsResponse: {
            /** @description The number of active runs that matched the filter. */
            matched: number;
            /** @description The number of runs that were cancelled. */
            cancelled: number;
            /** @description The runs that could not be cancelled. */
            refused: {
                /** @description The run's id. */
                run_id: string;
                /** @description The error code that cancelling this run returns. */
                error_code: string;
            }[];
            /** @description Whether more runs may match. If true, send the request again with `next_cursor` as `cursor`. */
            has_more: boolean;
            /** @description Where the next request continues. Only if `has_more` is true. */
            next_cursor?: string;
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description What GitHub adds to the URL that it redirects to, and the installation. */
        ClaimInstallationRequest: {
            /** @description GitHub's id of the installation. */
            installation_id: number;
            /** @description The `state` of the claim, which GitHub repeats. */
            state: string;
            /** @description The `code` that identifies the person who authorized the App to GitHub. */
            code: string;
        };
        /** @description An event that an execution reports for its timeline. */
        ClientEvent: {
            /** @description The event's id. At most 512 bytes in UTF-8. */
            event_uuid: string;
            /**
             * @description The type of the event.
             * @enum {string}
             */
            event_name: "setup_environment_resolution" | "setup_repo_clone" | "setup_commands" | "setup_mcp_servers" | "setup_skill_loading" | "agent_started" | "network_blocked" | "checkpoint_saved" | "setup_started" | "model_retry";
            /**
             * Format: date-time
             * @description The time of the event. RFC 3339 with an offset.
             */
            timestamp: string;
            /** @description Details of the event, such as `latency_ms` and `is_error`. */
            payload?: {
                /**
                 * Format: date-time
                 * @description The start time of the step. RFC 3339 with an offset.
                 */
                start_ts?: string;
                /**
                 * Format: date-time
                 * @description The end time of the step. RFC 3339 with an offset.
                 */
                finish_ts?: string;
                /** @description The duration of the step, in milliseconds. */
                latency_ms?: number;
                /** @description Whether the step failed. */
                is_error?: boolean;
                /** @description The error message of the step. At most 4096 bytes in UTF-8. */
                detail?: string;
                /** @description `setup_started`: the event that reports the end of this part of the setup, such as `setup_commands`. */
                step?: string;
                /** @description `setup_commands`: the id of the command's live output, if there was any. At most 512 bytes in UTF-8. */
                action_id?: string;
                /** @description `setup_commands`: the end of what the command printed. At most 8192 bytes in UTF-8. */
                output?: string;
                /** @description `agent_started`: the id of the model. */
                model_id?: string;
                /**
                 * @description `agent_started`: the isolation boundary of the run's commands.
                 * @enum {string}
                 */
                isolation?: "bubblewrap" | "machine" | "none";
                /** @description `agent_started`: the files of repositories that instruct the agent, relative to the workspace. */
                instruction_files?: string[];
                /** @description `model_retry`: the number of the attempt that failed, from 1. */
                attempt?: number;
                /** @description `model_retry`: the maximum number of attempts. */
                of?: number;
                /** @description `model_retry`: why the attempt failed. At most 1024 bytes in UTF-8. */
                reason?: string;
                /** @description `model_retry`: the delay before the next attempt, in milliseconds. */
                next_in_ms?: number;
            };
        };
        /** @description The snapshot to commit. */
        CommitSnapshotRequest: {
            /** @description The name of the snapshot within its execution. Must have 1 to 128 of the characters A-Z a-z 0-9 . _ - and no two underscores in a row. */
            generation: string;
            /** @description The names of the files to keep, at most 100. */
            files: string[];
            /** @description What the snapshot was made of, if later runs in the environment may start with it. Only for runs that set up an environment. */
            setup?: components["schemas"]["SetupReport"];
        };
        /** @description The committed snapshot. */
        CommitSnapshotResponse: {
            /** @description The name of the snapshot within its execution. */
            generation: string;
        };
        /** @description The normalized conversation of one or more runs. */
        Conversation: {
            /** @description The conversation's id. */
            conversation_id: string;
            /** @description The turns, oldest first. */
            steps: components["schemas"]["Step"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description The latest public session of a conversation. */
        ConversationRedirect: {
            /** @description The session's id. */
            session_id?: string;
        };
        /** @description Other prices for calls with more input. */
        CostStep: {
            /** @description The number of input tokens, cached ones included, above which these prices apply. */
            above_input_tokens: number;
            /** @description US dollars per million input tokens. */
            input_per_million_usd: number;
            /** @description US dollars per million output tokens. */
            output_per_million_usd: number;
            /** @description US dollars per million input tokens that the provider reads from its cache. Absent if the default of its API applies. */
            cache_read_per_million_usd?: number;
            /** @description US dollars per million input tokens that the provider writes to its cache. Absent if the default of its API applies. */
            cache_write_per_million_usd?: number;
        };
        /** @description The file to upload. Size and digest must match the uploaded bytes exactly. */
        CreateAttachmentRequest: {
            /** @description The file's name, without directories. At most 255 bytes in UTF-8. Must be a file name without directories. */
            file_name: string;
            /** @description The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain. */
            mime_type: string;
            /** @description The file's size in bytes. */
            size_bytes: number;
            /** @description The SHA-256 digest of the file. Must have 64 lowercase hexadecimal digits. */
            sha256: string;
        };
        /** @description A new attachment and where to upload its file. */
        CreateAttachmentResponse: {
            /** @description The attachment's id. */
            attachment_id: string;
            /** @description Where to upload the file. */
            upload: components["schemas"]["UploadTarget"];
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description A new environment. */
        CreateEnvironmentRequest: {
            /** @description The environment's name, unique within the team or the person. */
            name: string;
            /** @description Whether the team owns the environment. Defaults to true if the caller has a team; agent keys cannot set it to false. */
            team?: boolean;
            /** @description A description for people. */
            description?: string | null;
            /** @description The container image in which the runs' commands execute. If the deployment does not support images, creating a run returns 422. */
            docker_image?: string | null;
            /** @description The GitHub repositories to clone, at most 10. */
            github_repos?: {
                /** @description The user or organization on GitHub. Must not contain credentials: store them as a secret and name it in token_secret. Must be the name of a GitHub user or organization. */
                owner: string;
                /** @description The repository's name. Must not contain credentials: store them as a secret and name it in token_secret. Must be the name of a GitHub repository. */
                repo: string;
            }[] | null;
            /** @description The Git repositories to clone before the agent starts, at most 10. */
            repositories?: components["schemas"]["Repository"][] | null;
            /** @description The commands to run before the agent starts, in order, at most 20. */
            setup_commands?: string[] | null;
            /** @description The plain environment variables of setup commands and commands, at most 100. Everyone who can read the environment can read them. */
            variables?: components["schemas"]["Variables"] | null;
            /** @description Cloud providers that commands sign in to with the identity of their run, without a secret. `{}` removes them. */
            providers?: components["schemas"]["Providers"] | null;
            /** @description What commands, clones and MCP servers may call. Everything by default. */
            network?: components["schemas"]["Network"] | null;
            /** @description The self-hosted worker of runs that set none. */
            worker_host?: string | null;
            /** @description The `timeout_minutes` of runs that set none, up to 10,080. 0 clears it. */
            timeout_minutes?: number | null;
            /** @description The `max_steps` of runs that set none, up to 10,000. 0 clears it. */
            max_steps?: number | null;
            /** @description The `max_total_tokens` of runs that set none, up to 1,000,000,000. 0 clears it. */
            max_total_tokens?: number | null;
            /** @description The `fallback_model_ids` of runs that set none. `[]` clears them. */
            fallback_model_ids?: string[] | null;
            /** @description The `reasoning_level` of runs that set none. `""` clears it. */
            reasoning_level?: ("none" | "minimal" | "low" | "medium" | "high" | "max" | "") | null;
            /** @description The `output_schema` of runs that set none. `{}` clears it. */
            output_schema?: components["schemas"]["OutputSchema"] | null;
            /** @description The `approvals` of runs that set none. `[]` clears them. */
            approvals?: {
                /**
                 * @description The tool's name in the conversation. Tools of MCP servers are called by `call_mcp_tool`.
                 * @enum {string}
                 */
                tool: "ask_user" | "call_mcp_tool" | "create_plan" | "create_pull_request" | "edit_files" | "get_mcp_prompt" | "glob" | "load_skill" | "message_agent" | "notify_user" | "read_command" | "read_files" | "read_mcp_resource" | "report_artifact" | "run_command" | "search_files" | "start_agent" | "stop_command" | "todo" | "wait_for_agents" | "web_fetch" | "write_command";
                /** @description A text in the command, or in the arguments as JSON of a tool without a command. `*` stands for any text, and line breaks and several spaces count as one space. Defaults to every call of the tool. At most 1024 bytes in UTF-8. */
                match?: string;
            }[] | null;
            /** @description The `commit_author` of runs that set none. `""` clears it. */
            commit_author?: string | null;
            /** @description The secrets available to runs, at most 50. */
            secrets?: {
                /** @description The secret's name. Must have 1 to 128 of the characters A-Z a-z 0-9 _ . - and start with a letter, digit or underscore. */
                name: string;
            }[] | null;
        };
        /** @description A new identity. */
        CreateIdentityRequest: {
            /** @description The identity's name, unique within the team. */
            name: string;
            /** @description A description for people. */
            description?: string | null;
            /** @description Additional instructions for the runs of the identity. */
            prompt?: string | null;
            /** @description The model of runs that set none. */
            base_model?: string | null;
            /** @description The environment of runs that set none. */
            environment_id?: string | null;
            /** @description The skills of runs that set none, at most 20. */
            skills?: string[] | null;
            /** @description The MCP servers of runs that set none: a map from name to server, at most 50. */
            mcp_servers?: ({
                /** @description The server's name, unique in the list. */
                name: string;
                /** @description The id of a shared server. This release reports such a server to the agent as unavailable. At most 512 bytes in UTF-8. */
                warp_id?: string;
                /** @description The program to start in the sandbox. At most 4096 bytes in UTF-8. */
                command?: string;
                /** @description The program's arguments, at most 64. */
                args?: string[];
                /** @description The program's environment variables. Values are secrets: responses show `***`. */
                env?: {
                    [key: string]: string;
                };
                /** @description The URL of a remote server. Must be an http or https URL. */
                url?: string;
                /** @description The HTTP headers of each request to the server. Values are secrets: responses show `***`. */
                headers?: {
                    [key: string]: string;
                };
                /** @description Whether the server is kept in the configuration without being started or connected to. Defaults to false. */
                disabled?: boolean;
                /** @description The server's tools that the agent may use: those of `include`, or all, without those of `exclude`. */
                tools?: {
                    /** @description The tools to use, at most 100. Defaults to all. */
                    include?: string[];
                    /** @description The tools not to use, at most 100. */
                    exclude?: string[];
                };
            }[] | {
                [key: string]: components["schemas"]["MCPServerConfig"];
            }) | null;
            /** @description The harness of runs that set none. Responses omit it for the default harness. */
            harness?: {
                /**
                 * @description The harness to use. `oz` is an alias of `default`; `acp` is any agent that speaks the Agent Client Protocol: `agent` names one that comes with the sandbox, or `command` starts another.
                 * @enum {string}
                 */
                type?: "default" | "oz" | "claude" | "codex" | "gemini" | "acp";
                /** @description The model of this harness. Defaults to the configuration's `model_id`. At most 512 bytes in UTF-8. */
                model_id?: string;
                /** @description The reasoning level, which precedes that of the configuration. Third-party harnesses have names of their own. */
                reasoning_level?: string;
                /** @description An agent of the type `acp` that comes with the sandbox, in a pinned version. */
                agent?: components["schemas"]["AcpAgentName"];
                /** @description The command that starts an agent of the type `acp` in the sandbox, for bash. It speaks over its standard streams. At most 4096 bytes in UTF-8. */
                command?: string;
            } | null;
            /** @description The self-hosted worker of runs that set none. Defaults to `hosted`, a sandbox of the service. */
            worker_host?: string | null;
            /** @description The secrets available to runs, at most 50. */
            secrets?: {
                /** @description The secret's name. Must have 1 to 128 of the characters A-Z a-z 0-9 _ . - and start with a letter, digit or underscore. */
                name: string;
            }[] | null;
            /** @description Whether keys of the identity may create runs on behalf of members. Defaults to false. */
            on_behalf_of_enabled?: boolean | null;
            /** @description Whose credentials its runs use: their creator's or their executor's. Has no effect in this release. */
            credential_strategy?: ("CREATOR" | "EXECUTOR" | "") | null;
            /** @description The `timeout_minutes` of runs that set none, up to 10,080. 0 clears it. */
            timeout_minutes?: number | null;
            /** @description The `max_steps` of runs that set none, up to 10,000. 0 clears it. */
            max_steps?: number | null;
            /** @description The `max_total_tokens` of runs that set none, up to 1,000,000,000. 0 clears it. */
            max_total_tokens?: number | null;
            /** @description The `fallback_model_ids` of runs that set none. `[]` clears them. */
            fallback_model_ids?: string[] | null;
            /** @description The `reasoning_level` of runs that set none. `""` clears it. */
            reasoning_level?: ("none" | "minimal" | "low" | "medium" | "high" | "max" | "") | null;
            /** @description The `output_schema` of runs that set none. `{}` clears it. */
            output_schema?: components["schemas"]["OutputSchema"] | null;
            /** @description The `approvals` of runs that set none. `[]` clears them. */
            approvals?: {
                /**
                 * @description The tool's name in the conversation. Tools of MCP servers are called by `call_mcp_tool`.
                 * @enum {string}
                 */
                tool: "ask_user" | "call_mcp_tool" | "create_plan" | "create_pull_request" | "edit_files" | "get_mcp_prompt" | "glob" | "load_skill" | "message_agent" | "notify_user" | "read_command" | "read_files" | "read_mcp_resource" | "report_artifact" | "run_command" | "search_files" | "start_agent" | "stop_command" | "todo" | "wait_for_agents" | "web_fetch" | "write_command";
                /** @description A text in the command, or in the arguments as JSON of a tool without a command. `*` stands for any text, and line breaks and several spaces count as one space. Defaults to every call of the tool. At most 1024 bytes in UTF-8. */
                match?: string;
            }[] | null;
            /** @description The `commit_author` of runs that set none. `""` clears it. */
            commit_author?: string | null;
            /** @description The older name of `harness.type`. `""` clears the harness. */
            base_harness?: (components["schemas"]["HarnessName"] | "") | null;
            /** @description The secrets with the API keys for its runs' calls to Anthropic's and OpenAI's models. */
            harness_auth_secrets?: {
                /** @description The name of the secret with the API key for Anthropic's models. */
                claude_auth_secret_name?: string;
                /** @description The name of the secret with the API key for OpenAI's models. */
                codex_auth_secret_name?: string;
            } | null;
        };
        /** @description A new invitation. */
        CreateInvitationRequest: {
            /** @description The person's email address. At most 320 bytes in UTF-8. Must be an email address in ASCII characters, such as ada@example.com or ada@xn--bcher-kva.example. */
            email: string;
            /** @description The role in the team after acceptance. Defaults to `member`. */
            role?: components["schemas"]["Role"];
        };
        /** @description A new API key. */
        CreateKeyRequest: {
            /** @description The key's name. */
            name: string;
            /** @description The expiry time, in the future. By default the key does not expire. */
            expires_at?: string | null;
            /** @description What the key may be used for. By default it has all scopes of the request's own credential, which has to have each of them. */
            scopes?: components["schemas"]["Scope"][] | null;
            /** @description The maximum cost of the runs that the key creates, and of their descendants, in a calendar month (UTC). By default it is not limited. */
            max_budget_usd?: number | null;
            /** @description The maximum number of runs that the key creates in a day (UTC). By default it is not limited. */
            max_runs_per_day?: number | null;
        };
        /** @description A new schedule. `prompt` is required unless `agent_config` names a skill. */
        CreateScheduleRequest: {
            /** @description The schedule's name. */
            name: string;
            /** @description A cron expression with five fields, or a nickname such as `@daily`. At most 512 bytes in UTF-8. */
            cron_schedule: string;
            /** @description The task of each run. Required unless `agent_config` names a skill. At most 262144 bytes in UTF-8. */
            prompt?: string;
            /** @description Whether the schedule fires. Defaults to true. */
            enabled?: boolean;
            /** @description Whether the team owns the schedule. Defaults to true if the caller has a team; agent keys cannot set it to false. */
            team?: boolean;
            /** @description The configuration of each run, before the defaults of the identity, the environment and the team. */
            agent_config?: components["schemas"]["AmbientAgentConfig"];
            /** @description The identity that executes the runs. For team schedules only. At most 512 bytes in UTF-8. */
            agent_uid?: string;
            /** @description `normal` (default) executes the task, `plan` only creates a plan, `orchestrate` delegates to child runs. */
            mode?: components["schemas"]["RunMode"];
            /** @description The labels of each run: at most 20 keys, with values of at most 256 bytes. */
            metadata?: components["schemas"]["Metadata"];
            /** @description The IANA time zone of the cron expression. Defaults to `UTC`. At most 64 bytes in UTF-8. */
            time_zone?: string;
            /** @description What to do if an earlier run is still active: `allow` (default), `skip` the firing, or `cancel_previous`. */
            overlap?: components["schemas"]["Overlap"];
            /** @description The number of consecutive failed runs after which the schedule pauses itself, at most 10. By default it never does. 0 clears the limit. */
            pause_after_failures?: number;
        };
        /** @description A new secret. */
        CreateSecretRequest: {
            /** @description The name that configurations refer to, unique within the team. Also the name of the environment variable with the value. Names that change how programs behave, such as PATH or LD_PRELOAD, are reserved. */
            name: string;
            /** @description The value. It is never returned. At most 4096 bytes in UTF-8. */
            value: string;
            /** @description Makes the value an access token that the service renews before executions start. */
            renewal?: {
                /** @description The URL of the server that accepts the token, such as an MCP server. At most 2048 bytes in UTF-8. Must be an https URL without credentials and fragment. */
                server_url: string;
                /** @description The URL that issues new tokens. Its address must be public. At most 2048 bytes in UTF-8. Must be an https URL without credentials and fragment. */
                token_endpoint: string;
                /** @description The id of the OAuth client. At most 512 bytes in UTF-8. */
                client_id: string;
                /** @description The secret of the OAuth client, if it has one. It is never returned. At most 512 bytes in UTF-8. */
                client_secret?: string;
                /** @description The refresh token. It is never returned, and no run gets it. At most 3072 bytes in UTF-8. */
                refresh_token: string;
                /** @description The resource that the token is limited to (RFC 8707). At most 2048 bytes in UTF-8. */
                resource?: string;
                /** @description Seconds until the value expires. If absent, the service renews it only after a server has refused it. */
                expires_in?: number;
            };
        };
        /** @description What to sign in with: either an API key or a one-time token. Must have either a key or a token. */
        CreateSessionRequest: {
            /** @description A personal API key. The session ends with the key. */
            key?: string | null;
            /** @description The token of a sign-in link. It works once. */
            token?: string | null;
        };
        /** @description A new team. */
        CreateTeamRequest: {
            /** @description The team's name. */
            name: string;
            /** @description The team's limits and defaults. */
            settings?: {
                /** @description The number of available identities, 1 to 500. Defaults to 20. */
                identity_limit?: number | null;
                /** @description The number of runs that execute at the same time, 1 to 10,000. Defaults to 20. */
                concurrency_limit?: number | null;
                /** @description The number of runs that wait for capacity, 1 to 100,000. Defaults to 1,000. */
                queue_limit?: number | null;
                /** @description The model of runs that set none. */
                default_model_id?: string | null;
                /** @description The environment of runs that set none. */
                default_environment_id?: string | null;
                /** @description The author of commits of runs that set none, such as `Build Bot <bot@example.com>`. Null: that of the deployment. */
                commit_author?: string | null;
                /** @description The maximum cost of the team's model calls in a calendar month (UTC), in US dollars. Null: not limited. */
                budget_usd_month?: number | null;
                /** @description The days after which ended runs are deleted, with all their files, 1 to 3,650. Null: they are kept. */
                retention_days?: number | null;
                /** @description Whether runs of the team can be shared with everybody who has their link. If not, runs that were shared before are not public either. */
                sharing_allowed?: boolean | null;
                /** @description By the name of a provider, the team's secret with the API key for the team's calls to it, in place of the deployment's key. An empty object: none. */
                provider_keys?: {
                    [key: string]: string;
                } | null;
            };
        };
        /** @description A new trigger. */
        CreateTriggerRequest: {
            /** @description A name for people, which is the title of the runs. */
            name: string;
            /**
             * @description The system that sends the events. `webhook` stands for all others.
             * @enum {string}
             */
            kind: "github" | "gitlab" | "slack" | "webhook";
            /**
             * @description Fills verification and prompt of a trigger of the kind `webhook`.
             * @enum {string}
             */
            preset?: "linear" | "jira" | "sentry" | "pagerduty";
            /** @description The template of the prompts, with values such as `{{ event.payload.title }}`. Required without a preset. At most 8192 bytes in UTF-8. */
            prompt?: string;
            /** @description How requests to a trigger of the kind `webhook` are verified. Standard Webhooks by default. */
            verification?: components["schemas"]["TriggerVerification"];
            /** @description Whether the team owns the trigger. Defaults to true if the caller has a team. */
            team?: boolean;
            /** @description What its runs may use their keys for. By default all scopes of the request's credential, which has to have each of them. */
            scopes?: components["schemas"]["Scope"][];
            /** @description The secret, if the other system generates it. By default Runyard generates it. At most 512 bytes in UTF-8. */
            secret?: string;
            /** @description The types of events that start runs, such as `build` or `build.failed`. All by default. */
            events?: string[];
            /** @description The identity that executes the runs. By default the trigger's creator does. At most 512 bytes in UTF-8. */
            agent_uid?: string;
            /** @description The configuration of the runs, before the defaults of the identity, the environment and the team. `{}` is none. */
            agent_config?: components["schemas"]["AmbientAgentConfig"];
            /** @description The most that each run with its children and follow-ups may spend on models, in US dollars. A lower budget of the configuration stays. */
            budget_usd?: number;
            /** @description The condition that events have to meet, an expression of the Common Expression Language over `event`. Absent or empty for none. At most 2048 bytes in UTF-8. */
            filter?: string;
            /** @description The expression that yields the thread of an event of the kind `webhook`, a string. An empty one is no thread. At most 2048 bytes in UTF-8. */
            thread_key?: string;
            /** @description The mode of the runs. */
            mode?: components["schemas"]["RunMode"];
            /** @description The template of the follow-ups that later events of a thread send. Defaults to `{{ event.text }}`. At most 8192 bytes in UTF-8. */
            followup_prompt?: string;
            /**
             * @description Whether later events of an issue, a pull request, a ticket or a conversation continue the first one's run (`continue`, the default), or start runs of their own (`separate`).
             * @enum {string}
             */
            threads?: "continue" | "separate";
            /**
             * @description What an event of a thread does while its run is active: its follow-up waits for the turn (`enqueue`, the default) or interrupts it, or the event is ignored (`skip`).
             * @enum {string}
             */
            busy?: "enqueue" | "interrupt" | "skip";
            /** @description Who may start runs besides people with write access. */
            allow?: components["schemas"]["TriggerAuthors"];
            /** @description The name of a secret of the team with a token of the other system, of the kinds `github`, `gitlab` and `slack`: people with write access may start runs then. `""` is none. */
            credential?: string | "";
            /** @description Whether runs reply to the events that start them. They do not by default. */
            reply?: components["schemas"]["TriggerReply"];
            /** @description The labels of the runs, at most 18. Must have at most 18 keys. */
            metadata?: {
                [key: string]: string;
            };
            /** @description The number of consecutive failed runs after which the trigger pauses itself, at most 10. By default it never does. 0 clears the limit. */
            pause_after_failures?: number;
            /** @description Whether events start runs. Defaults to true. */
            enabled?: boolean;
        };
        /** @description A new webhook. */
        CreateWebhookRequest: {
            /** @description A name for people. */
            name?: string | null;
            /** @description Where deliveries are sent. Its host must be on the internet. At most 2048 bytes in UTF-8. Must be an https URL without credentials and fragment. */
            url: string;
            /** @description What is sent: the event as JSON (`json`, the default), or a message for the URL of an incoming webhook of Slack (`slack`). */
            format?: ("json" | "slack") | null;
            /** @description The types of events that are delivered. `[]` stands for all. */
            event_types?: components["schemas"]["WebhookEventType"][] | null;
            /** @description Selects the runs whose events are delivered. All runs of the team by default, and with `{}`. */
            filter?: components["schemas"]["WebhookFilter"] | null;
            /** @description Whether events are delivered. True for a new webhook. */
            enabled?: boolean | null;
        };
        /** @description A new account, created by accepting an invitation. Its `key` is returned only to this request and its repeats. */
        CreatedAccount: {
            /** @description The id of the new user. */
            user_uid: string;
            /** @description The team's id. */
            team_uid: string;
            /** @description The user's first API key, returned once. */
            key: string;
        };
        /** @description A new invitation. Its `link` is returned once. */
        CreatedInvitation: {
            /** @description The invitation's id. */
            id: string;
            /** @description The email address of the invited person. */
            email: string;
            /** @description The role in the team after acceptance. */
            role: components["schemas"]["Role"];
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The expiry time, 7 days after creation.
             */
            expires_at: string;
            /** @description The URL to accept the invitation, returned once. Send it to the invited person. */
            link: string;
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description A new API key. The value in `key` is returned once. */
        CreatedKey: {
            /** @description The key's id. */
            uid: string;
            /** @description The key's name. */
            name: string;
            /** @description The last four characters of the key. */
            suffix: string;
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /** @description The person who created the key. Absent for keys from before this was recorded. */
            created_by?: components["schemas"]["RunCreatorInfo"];
            /**
             * Format: date-time
             * @description The expiry time. Absent for a key that does not expire.
             */
            expires_at?: string;
            /** @description What the key may be used for. */
            scopes: components["schemas"]["Scope"][];
            /** @description The maximum cost of its runs in a calendar month. Absent where it is not limited. */
            max_budget_usd?: number;
            /** @description The maximum number of runs that it creates in a day. Absent where it is not limited. */
            max_runs_per_day?: number;
            /**
             * Format: date-time
             * @description The time of the latest request with the key that changed something, to the hour.
             */
            last_used_at?: string;
            /** @description The API key, returned once. */
            key: string;
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description A new trigger with its secret, which is shown only once. */
        CreatedTrigger: {
            /** @description The trigger's id. */
            uid: string;
            /** @description A name for people, which is the title of the runs. */
            name: string;
            /**
             * @description The system that sends the events. `webhook` stands for all others.
             * @enum {string}
             */
            kind: "github" | "gitlab" | "slack" | "webhook";
            /**
             * @description The system whose verification and prompt a trigger of the kind `webhook` has.
             * @enum {string}
             */
            preset?: "linear" | "jira" | "sentry" | "pagerduty";
            /** @description Whether events start runs. False while the trigger is paused. */
            enabled: boolean;
            /** @description Where the other system sends its events. */
            ingress_url: string;
            /** @description How requests to a trigger of the kind `webhook` are verified. Standard Webhooks by default. */
            verification?: components["schemas"]["TriggerVerification"];
            /** @description The template of the prompts, at most 8 KiB. A preset has one. */
            prompt: string;
            /** @description The types of events that start runs, such as `build` or `build.failed`. Absent for all. */
            events?: string[];
            /** @description The condition that events have to meet, an expression of the Common Expression Language over `event`. Absent or empty for none. */
            filter?: string;
            /** @description The expression that yields the thread of an event of the kind `webhook`, a string. An empty one is no thread. */
            thread_key?: string;
            /** @description The identity that executes the runs. Absent if the trigger's creator does. */
            agent_uid?: string;
            /** @description The configuration of the runs, before the defaults of the identity, the environment and the team. */
            agent_config?: components["schemas"]["ResolvedAgentConfig"];
            /** @description The most that each run with its children and follow-ups may spend on models, in US dollars. */
            budget_usd?: number;
            /** @description The mode of the runs. */
            mode: components["schemas"]["RunMode"];
            /** @description The template of the follow-ups that later events of a thread send. Defaults to `{{ event.text }}`. */
            followup_prompt?: string;
            /**
             * @description Whether later events of an issue, a pull request, a ticket or a conversation continue the first one's run (`continue`, the default), or start runs of their own (`separate`).
             * @enum {string}
             */
            threads?: "continue" | "separate";
            /**
             * @description What an event of a thread does while its run is active: its follow-up waits for the turn (`enqueue`, the default) or interrupts it, or the event is ignored (`skip`).
             * @enum {string}
             */
            busy?: "enqueue" | "interrupt" | "skip";
            /** @description Who may start runs besides people with write access. */
            allow?: components["schemas"]["TriggerAuthors"];
            /** @description The name of the secret with the token for the other system. */
            credential?: string;
            /** @description Whether runs reply to the events that start them. Absent where they do not. */
            reply?: components["schemas"]["TriggerReply"];
            /** @description The labels of the runs. */
            metadata?: components["schemas"]["Metadata"];
            /** @description What its runs may use their keys for. Absent where that is not limited. */
            scopes?: components["schemas"]["Scope"][];
            /** @description The owner. */
            scope: {
                /**
                 * @description `Team` for a team's trigger, `User` for a personal one.
                 * @enum {string}
                 */
                type: "Team" | "User";
                /** @description The id of the team or the person. */
                uid: string;
            };
            /** @description The person who created the trigger, and in whose name its runs are created. */
            created_by: components["schemas"]["RunCreatorInfo"];
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the latest change.
             */
            updated_at: string;
            /** @description The number of consecutive failed runs after which the trigger pauses itself. Absent if it never does. */
            pause_after_failures?: number;
            /** @description Why the trigger has paused itself: its runs failed, its identity was deleted, or its creator has left the team. The last two are also stored with a trigger that a person has paused. Absent for others, and after the trigger is resumed. */
            pause_reason?: string;
            /**
             * Format: date-time
             * @description The creation time of the first of the consecutive failed runs. Absent if the latest run that has ended did not fail.
             */
            failing_since?: string;
            /** @description The latest delivery. Absent if there is none. */
            last_delivery?: components["schemas"]["LastDelivery"];
            /** @description The deliveries of the last 24 hours by outcome, in the response to a GET of one trigger. */
            counts_24h?: components["schemas"]["DeliveryCounts"];
            /** @description Its latest runs, at most 10, newest first. In the response to a GET of one trigger. */
            recent_runs?: components["schemas"]["RecentRun"][];
            /** @description The secret, returned once. */
            secret: string;
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description A new webhook with its signing secret, which is shown only once. */
        CreatedWebhook: {
            /** @description The webhook's id. */
            uid: string;
            /** @description A name for people. */
            name?: string;
            /** @description Where deliveries are sent. */
            url: string;
            /**
             * @description `slack` if messages for an incoming webhook of Slack are sent. Absent for events as JSON.
             * @constant
             */
            format?: "slack";
            /** @description The types of events that are delivered. */
            event_types: components["schemas"]["WebhookEventType"][];
            /** @description The runs whose events are delivered. Absent for all runs of the team. */
            filter?: components["schemas"]["WebhookFilter"];
            /** @description Whether events are delivered. A receiver that responds 410 disables the webhook. */
            enabled: boolean;
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the latest change.
             */
            updated_at: string;
            /** @description The person who created the webhook. */
            created_by: components["schemas"]["RunCreatorInfo"];
            /** @description The owner. */
            scope: {
                /**
                 * @description Always `Team`.
                 * @constant
                 */
                type: "Team";
                /** @description The team's id. */
                uid: string;
            };
            /**
             * Format: date-time
             * @description The time until which deliveries are signed with the previous secret as well. Absent unless the secret was replaced.
             */
            previous_secret_expires_at?: string;
            /** @description The signing secret, returned once. */
            secret: string;
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description The result of a bulk deletion. */
        DeleteRunsResponse: {
            /** @description The ids of the deleted runs that matched. Runs below them are deleted too, and are listed only if they matched. */
            deleted: string[];
            /** @description The number of runs of this page that matched. */
            matched: number;
            /** @description The runs that could not be changed. */
            refused: {
                /** @description The run's id. */
                run_id: string;
                /** @description The error code that the request for this run alone returns. */
                error_code: string;
            }[];
            /** @description Whether more runs may match. If so, send the request again with `next_cursor` as `cursor`. */
            page_info: components["schemas"]["PageInfo"];
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description The result of deleting a schedule. */
        DeleteScheduleResponse: {
            /**
             * @description Always true.
             * @constant
             */
            success: true;
        };
        /** @description Deliveries to a trigger of the last 24 hours by outcome, of the latest 1,000. */
        DeliveryCounts: {
            /** @description Deliveries that started a run. */
            started: number;
            /** @description Deliveries that sent a follow-up. */
            followed_up: number;
            /** @description Deliveries that were ignored. */
            ignored: number;
            /** @description Deliveries that repeated another one. */
            duplicate: number;
            /** @description Deliveries for which no run could be started. */
            failed: number;
        };
        /** @description A delivery as responses show it. */
        DeliveryItem: {
            /** @description The number of the delivery within its webhook, from 1, without gaps. */
            sequence: number;
            /** @description The type of the event. */
            event_type: components["schemas"]["WebhookEventType"];
            /** @description The id of the run. Absent for an event of a trigger or a schedule. */
            run_id?: string;
            /** @description The number of the event within its run. */
            run_sequence?: number;
            /** @description The trigger of a `trigger_failed`. */
            trigger_uid?: string;
            /** @description The schedule of a `schedule_failed` or `schedule_missed`. */
            schedule_id?: string;
            /** @description `pending` until the receiver responds 2xx (`delivered`) or the last attempt has failed (`failed`). */
            state: components["schemas"]["DeliveryState"];
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the next attempt. Present while the delivery is pending.
             */
            next_attempt_at?: string;
            /** @description The latest attempts, at most 20, oldest first. */
            attempts: {
                /**
                 * Format: date-time
                 * @description The time of the attempt.
                 */
                attempted_at: string;
                /** @description Milliseconds until the response or the error. */
                duration_ms: number;
                /** @description The status of the receiver's response. */
                status_code?: number;
                /** @description Why there was no response. */
                error?: string;
            }[];
        };
        /**
         * @description The state of a delivery.
         * @enum {string}
         */
        DeliveryState: "pending" | "delivered" | "failed";
        /** @description The attachments to download. */
        DownloadAttachmentsRequest: {
            /** @description The ids of the attachments, at most 100. */
            attachment_ids: string[];
        };
        /** @description Where to download the attachments, in the order of the request. */
        DownloadAttachmentsResponse: {
            /** @description The attachments with their URLs, in the order of the request. */
            attachments: {
                /** @description The attachment's id. */
                attachment_id: string;
                /**
                 * Format: uri
                 * @description A time-limited URL of the file. Do not send credentials to it.
                 */
                download_url: string;
            }[];
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description A time-limited URL of a file, which needs no credentials. */
        DownloadUrl: {
            /**
             * Format: uri
             * @description A time-limited URL of the file. Do not send credentials to it.
             */
            download_url: string;
            /**
             * Format: date-time
             * @description The expiry time of the URL.
             */
            expires_at: string;
        };
        /** @description What the creation of a run would result in. Nothing is created. */
        DryRunResponse: {
            /** @description Whether the run would be created: there is no finding of severity `error`. */
            would_start: boolean;
            /** @description What to know before the run is created: errors first, in the order of the checks. */
            findings: components["schemas"]["Finding"][];
            /** @description The configuration that the run would have, with all defaults applied. Absent if the request would be refused. */
            resolved_config?: components["schemas"]["ResolvedAgentConfig"];
            /** @description The maximum cost of the run's model calls in US dollars: its own `budget_usd`. Absent for a run without one. */
            estimated_cost_usd?: number;
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description An empty object. */
        Empty: Record<string, never>;
        /** @description The content of an environment. `github_repos` contains those of `repositories` that are on GitHub. */
        EnvironmentConfig: {
            /** @description The environment's name, unique within the team or the person. */
            name: string;
            /** @description A description for people. */
            description?: string;
            /** @description The container image in which the runs' commands execute. If the deployment does not support images, creating a run returns 422. */
            docker_image?: string;
            /** @description The GitHub repositories to clone, at most 10. */
            github_repos: {
                /** @description The user or organization on GitHub. */
                owner: string;
                /** @description The repository's name. */
                repo: string;
            }[];
            /** @description The Git repositories to clone before the agent starts, at most 10. */
            repositories?: components["schemas"]["StoredRepository"][];
            /** @description The commands to run before the agent starts, in order, at most 20. */
            setup_commands: string[];
            /** @description The plain environment variables of setup commands and commands, at most 100. Everyone who can read the environment can read them. */
            variables?: {
                [key: string]: string;
            };
            /** @description Cloud providers that commands sign in to with the identity of their run. */
            providers?: components["schemas"]["Providers"];
            /** @description What commands, clones and MCP servers may call. Everything by default. */
            network?: components["schemas"]["StoredNetwork"];
            /** @description The self-hosted worker of runs that set none. */
            worker_host?: string;
            /** @description Minutes from the run's first start after which it ends FAILED with `budget_exceeded`, 1 to 10,080. A follow-up starts them again. Not limited by default. */
            timeout_minutes?: number;
            /** @description Model responses of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 10,000. A follow-up starts the count again. Not limited by default. */
            max_steps?: number;
            /** @description Tokens of input and output of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 1,000,000,000. A follow-up starts the count again. Not limited by default. */
            max_total_tokens?: number;
            /** @description Models that the agent continues with, in this order, while a provider is down. */
            fallback_model_ids?: string[];
            /** @description How much the model reasons before it responds. A model without the level gets the nearest one that it has, and one that does not reason gets none. Defaults to the model's own. */
            reasoning_level?: components["schemas"]["ReasoningLevel"];
            /** @description The JSON Schema, of at most 64 KiB, that the agent's final message has to fit. An agent whose message does not is asked again, up to twice; then the run ends FAILED with `invalid_request`. GET /agent/runs/{runId}/response shows the value in `structured`. */
            output_schema?: components["schemas"]["StoredOutputSchema"];
            /** @description Calls that wait until a person approves them, at most 20. A run waits as `BLOCKED` with `waiting_for` `approval`. The rules of a parent hold for its children. */
            approvals?: {
                /**
                 * @description The tool's name in the conversation. Tools of MCP servers are called by `call_mcp_tool`.
                 * @enum {string}
                 */
                tool: "ask_user" | "call_mcp_tool" | "create_plan" | "create_pull_request" | "edit_files" | "get_mcp_prompt" | "glob" | "load_skill" | "message_agent" | "notify_user" | "read_command" | "read_files" | "read_mcp_resource" | "report_artifact" | "run_command" | "search_files" | "start_agent" | "stop_command" | "todo" | "wait_for_agents" | "web_fetch" | "write_command";
                /** @description A text in the command, or in the arguments as JSON of a tool without a command. `*` stands for any text, and line breaks and several spaces count as one space. Defaults to every call of the tool. At most 1024 bytes in UTF-8. */
                match?: string;
            }[];
            /** @description The author and committer of commits that set none, such as `Build Bot <bot@example.com>`. At most 512 bytes in UTF-8. Must be a name and an email address, such as Build Bot <bot@example.com>. */
            commit_author?: string;
            /** @description The secrets available to runs, at most 50. */
            secrets?: {
                /** @description The secret's name. */
                name: string;
            }[];
        };
        /** @description An environment as responses show it. */
        EnvironmentItem: {
            /** @description The environment's id. */
            uid: string;
            /** @description The content of the environment. */
            config: components["schemas"]["EnvironmentConfig"];
            /**
             * Format: date-time
             * @description The time of the latest change.
             */
            last_updated: string;
            /** @description Whether the latest setup of the environment failed. */
            setup_failed: boolean;
            /** @description The start time of the latest run. Null before the first; absent if a link grants the access. */
            last_task_run_timestamp?: string | null;
            /** @description The latest run. Absent before the first, and if a link grants the access. */
            last_task_created?: {
                /** @description The run's id. */
                id: string;
                /** @description The run's title. */
                title: string;
                /** @description The run's current state. */
                state: components["schemas"]["RunState"];
                /**
                 * Format: date-time
                 * @description The time of creation.
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @description The time of the run's latest change.
                 */
                updated_at: string;
                /**
                 * Format: date-time
                 * @description The start time. Absent before the run has started.
                 */
                started_at?: string;
            };
            /** @description What later runs start with instead of cloning and running the setup commands. Absent if there is none, and if a link grants the access. */
            setup_snapshot?: {
                /** @description The run that made it. */
                run_id: string;
                /**
                 * Format: date-time
                 * @description The time of creation.
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @description The time after which no run uses it.
                 */
                expires_at: string;
                /** @description The size in bytes. */
                size_bytes: number;
            };
            /** @description The owner. */
            scope: {
                /**
                 * @description `Team` for a team's resource, `User` for a personal one.
                 * @enum {string}
                 */
                type: "Team" | "User";
                /** @description The id of the team or the person. */
                uid: string;
            };
            /** @description The person or identity that created the environment. */
            creator: components["schemas"]["EnvironmentPerson"];
            /** @description The person or identity that changed the environment last. */
            last_editor: components["schemas"]["EnvironmentPerson"];
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description The person or identity that created or changed an environment. With access by link, only `uid` and `display_name` are present. */
        EnvironmentPerson: {
            /**
             * @description `user` for a person, `service_account` for an identity. Absent if a link grants the access.
             * @enum {string}
             */
            type?: "user" | "service_account";
            /** @description The id of the person or identity. */
            uid: string;
            /** @description The display name. */
            display_name?: string;
            /** @description The person's email address. */
            email?: string;
            /** @description The URL of the person's picture. */
            photo_url?: string;
        };
        /** @description An error response (RFC 9457, application/problem+json). */
        Problem: {
            /**
             * Format: uri
             * @description The URL of the documentation of the error code.
             */
            type: string;
            /** @description A short summary of the error code. */
            title: string;
            /** @description The HTTP status of the response. */
            status: number;
            /** @description What is wrong with this request, with the name of the field. */
            detail?: string;
            /** @description The path of the request. */
            instance: string;
            /** @description The title, followed by the detail in parentheses if there is one. */
            error: string;
            /** @description The error code, one of a closed list. */
            error_code: string;
            /** @description Whether the same request may succeed later. */
            retryable: boolean;
            /** @description The id of the request's trace, to quote in a support request. */
            trace_id?: string;
            /** @description One entry for each invalid field. */
            errors?: {
                /** @description The path of the field, such as `config.skills[0]`, or the parameter's name. */
                path: string;
                /** @description What is wrong with the field. */
                message: string;
            }[];
        };
        /** @description Who caused an event: members are "" where the event does not name them. */
        EventAuthor: {
            /** @description The account's id in the other system. */
            id: string;
            /** @description The account's name in the other system. */
            name: string;
            /**
             * @description The kind of the account.
             * @enum {string}
             */
            kind: "person" | "bot" | "application";
        };
        /**
         * @description Where a run is executed: `REMOTE` in a sandbox or on a worker, `LOCAL` by its caller.
         * @enum {string}
         */
        ExecutionLocation: "REMOTE" | "LOCAL";
        /** @description The conversation of a third-party harness. */
        ExternalConversationRequest: {
            /** @description The format of the conversation, such as `claude`. Must have 1 to 64 of the characters A-Z a-z 0-9 . _ - and start with a letter or digit. */
            format: string;
        };
        /** @description The registered conversation. */
        ExternalConversationResponse: {
            /** @description The conversation's id. */
            conversation_id: string;
        };
        /** @description What a dry run found out about a request. */
        Finding: {
            /** @description The `error_code` that the request would be refused with, or the name of another finding. */
            code: string;
            /**
             * @description `error` refuses the run, `warning` delays it or lets it fail, `info` has no effect on its outcome.
             * @enum {string}
             */
            severity: "error" | "warning" | "info";
            /** @description What was found, with the member of the request that it is about. */
            message: string;
            /** @description What to do about it. */
            remedy: string;
        };
        /** @description The result of a run, and what its execution has not reported yet. */
        FinishTaskRequest: {
            /** @description Whether the task succeeded. */
            success: boolean;
            /** @description The result, or with `blocked` the agent's question. At most 65536 bytes in UTF-8. */
            summary: string;
            /**
             * @description The error code of a failed run.
             * @enum {string}
             */
            error_code?: "invalid_request" | "environment_setup_failed" | "operation_not_supported" | "external_authentication_required";
            /** @description Whether the agent waits for an answer to the question in `summary`. The run becomes `BLOCKED` until a follow-up. */
            blocked?: boolean;
            /** @description The number of the interrupt that ended the turn. */
            interrupt?: number;
            /** @description The call that waits for an approval. The run becomes `BLOCKED` until a person decides. */
            approval?: components["schemas"]["ApprovalCall"];
            /** @description The number of the first of these messages within the run. */
            first_sequence?: number;
            /** @description The last messages of the conversation, 1 to 200; requires `first_sequence`. */
            messages?: components["schemas"]["Message"][];
            /** @description The number of follow-ups that the conversation has with `messages`. If more wait, the run continues. */
            followups_stored?: number;
            /** @description The number of the last interrupt whose turn has ended. A later one is in the response, and the run does not end. */
            interrupts_handled?: number;
            /** @description Whether the execution can stay alive and wait for follow-ups, if the run is to wait for one. */
            waits?: boolean;
        };
        /** @description What keeps the run from ending; an empty object if it has ended. */
        FinishTaskResponse: {
            /** @description The follow-ups that keep the run from ending. */
            followups?: components["schemas"]["Followup"][];
            /** @description The request to end the current turn. Absent if there is none, or the conversation already shows it. */
            interrupt?: components["schemas"]["Interrupt"];
            /**
             * @description True if the run waits for a follow-up, which a heartbeat delivers.
             * @constant
             */
            waiting?: true;
        };
        /** @description A follow-up message for the agent. */
        Followup: {
            /** @description The follow-up's place in the order of delivery, starting at 1. */
            number: number;
            /** @description The follow-up's id within its run, which is also the id of its message in the conversation. */
            followup_id?: string;
            /** @description The message to the agent. */
            message: string;
            /** @description The files to download into the attachments directory before the turn begins. Absent if there are none. */
            attachments?: {
                /** @description The attachment's id. */
                attachment_id: string;
                /** @description The file's name. */
                filename: string;
                /**
                 * Format: uri
                 * @description A time-limited URL of the file. Do not send credentials to it.
                 */
                download_url: string;
                /** @description The file's media type. */
                mime_type?: string;
            }[];
            /** @description The policy that the follow-up was sent with. */
            policy: components["schemas"]["FollowupPolicy"];
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /** @description What the sender decided about the call that the run waits for. */
            decision?: components["schemas"]["ApprovalDecision"];
            /**
             * @description True if the run was cancelled before the follow-up was delivered. Do not execute it.
             * @constant
             */
            cancelled?: true;
        };
        /** @description A follow-up as responses show it. */
        FollowupItem: {
            /** @description The follow-up's id within its run. */
            followup_id: string;
            /** @description The follow-up's place in the order of delivery, starting at 1. */
            number: number;
            /** @description The message to the agent. */
            message: string;
            /** @description The files that the agent gets with the message. */
            attachments: {
                /** @description The attachment's id. */
                attachment_id: string;
                /** @description The file's name, without directories. */
                file_name: string;
            }[];
            /** @description The mode that the follow-up requested, if it did. */
            mode?: components["schemas"]["RunMode"];
            /** @description The policy that the follow-up was sent with. */
            policy: components["schemas"]["FollowupPolicy"];
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /** @description Who sent the follow-up. Absent in follow-ups that earlier versions stored. */
            created_by?: components["schemas"]["RunCreatorInfo"];
            /**
             * @description `pending` until the agent takes it, then `delivered`; `removed` if it was deleted, or the run was cancelled, before.
             * @enum {string}
             */
            state: "pending" | "delivered" | "removed";
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /**
         * @description The outcome of a follow-up: it waits behind another one or for capacity, is delivered with the first turn, is delivered to the running agent, or continues a run that had ended in a new execution.
         * @enum {string}
         */
        FollowupOutcome: "queue_pending" | "queued_prompt" | "live_session" | "handoff_execution";
        /**
         * @description What happens to the current turn: it ends first, it is interrupted, or the follow-up is refused.
         * @enum {string}
         */
        FollowupPolicy: "enqueue" | "interrupt" | "reject";
        /** @description What a run changed in a repository: its commits, uncommitted changes and new files, without ignored files. */
        GitChanges: {
            /** @description The path of the repository in the workspace. */
            path: string;
            /** @description The commit that was cloned, to which the patch applies. Must be the id of a commit. */
            base_commit: string;
            /** @description The commit at the end; absent if the repository has none. Must be the id of a commit. */
            head_commit?: string;
            /** @description The branch at the end; absent for a detached head. */
            branch?: string;
            /** @description The number of commits since `base_commit`. */
            commits: number;
            /** @description The number of changed files. */
            files_changed: number;
            /** @description The number of inserted lines. */
            insertions: number;
            /** @description The number of deleted lines. */
            deletions: number;
            /** @description The number of new and changed files that the patch leaves out because they are larger than 5 MiB. */
            files_omitted?: number;
            /** @description True if `***` replaces secrets of the run in the patch. */
            redacted?: boolean;
        };
        /** @description The account on GitHub that a GitHub App is installed on. */
        GithubAccount: {
            /** @description The account's id. */
            id: number;
            /** @description The account's name. */
            login: string;
            /**
             * @description The kind of the account.
             * @enum {string}
             */
            type: "Organization" | "User";
        };
        /** @description The snapshot files of a run's latest ended execution. */
        HandoffAttachments: {
            /** @description The files of the snapshot. */
            attachments: {
                /** @description The attachment's id. */
                attachment_id: string;
                /** @description The file's name. */
                filename: string;
                /**
                 * Format: uri
                 * @description A time-limited URL of the file. Do not send credentials to it.
                 */
                download_url: string;
                /** @description The file's media type. */
                mime_type?: string;
            }[];
        };
        /**
         * @description The harnesses that need only their name.
         * @enum {string}
         */
        HarnessName: "default" | "oz" | "claude" | "codex" | "gemini";
        /** @description A heartbeat of an execution. */
        HeartbeatRequest: {
            /** @description The id of the caller's execution. At most 512 bytes in UTF-8. */
            execution_id: string;
            /** @description The number of the latest follow-up that the harness has stored; 0 if none. */
            followups_stored: number;
            /** @description The harness takes the first follow-up after this number now, so that nobody can change it any more. */
            takes_after?: number;
            /** @description The number of the last interrupt whose turn has ended, as the stored messages show. */
            interrupts_handled?: number;
        };
        /** @description New instructions for the harness. */
        HeartbeatResponse: {
            /** @description The follow-ups that the harness has not stored yet, in order. */
            followups: components["schemas"]["Followup"][];
            /** @description The follow-up that the harness takes, as `takes_after` requests; null if none waits. */
            taken?: components["schemas"]["Followup"] | null;
            /** @description True if the run is cancelled. Stop all processes and report the shutdown. */
            cancel: boolean;
            /** @description Why the run fails: a limit is reached. End the turn, and finish the run. */
            failing?: string;
            /** @description The request to end the current turn. Absent if there is none, or the conversation already shows it. */
            interrupt?: components["schemas"]["Interrupt"];
            /** @description Seconds until the next heartbeat is due. */
            next_heartbeat_seconds: number;
            /** @description Whether live output is being read. */
            watched?: boolean;
        };
        /** @description An identity as responses show it, with the defaults that are set. */
        IdentityItem: {
            /** @description The identity's id. */
            uid: string;
            /** @description The identity's name, unique within the team. */
            name: string;
            /** @description Whether the identity can be used. The team's `identity_limit` counts its oldest identities first. */
            available: boolean;
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the latest change.
             */
            updated_at: string;
            /** @description The owner. */
            scope: {
                /**
                 * @description Always `Team`.
                 * @constant
                 */
                type: "Team";
                /** @description The team's id. */
                uid: string;
            };
            /** @description A description for people. */
            description?: string;
            /** @description Additional instructions for the runs of the identity. */
            prompt?: string;
            /** @description The model of runs that set none. */
            base_model?: string;
            /** @description The environment of runs that set none. */
            environment_id?: string;
            /** @description The skills of runs that set none, at most 20. */
            skills: string[];
            /** @description The MCP servers of runs that set none: a map from name to server, at most 50. */
            mcp_servers?: {
                [key: string]: {
                    /** @description The id of a shared server. This release reports such a server to the agent as unavailable. At most 512 bytes in UTF-8. */
                    warp_id?: string;
                    /** @description The program to start in the sandbox. At most 4096 bytes in UTF-8. */
                    command?: string;
                    /** @description The program's arguments, at most 64. */
                    args?: string[];
                    /** @description The program's environment variables. Values are secrets: responses show `***`. */
                    env?: {
                        [key: string]: string;
                    };
                    /** @description The URL of a remote server. Must be an http or https URL. */
                    url?: string;
                    /** @description The HTTP headers of each request to the server. Values are secrets: responses show `***`. */
                    headers?: {
                        [key: string]: string;
                    };
                    /** @description Whether the server is kept in the configuration without being started or connected to. Defaults to false. */
                    disabled?: boolean;
                    /** @description The server's tools that the agent may use: those of `include`, or all, without those of `exclude`. */
                    tools?: {
                        /** @description The tools to use, at most 100. Defaults to all. */
                        include?: string[];
                        /** @description The tools not to use, at most 100. */
                        exclude?: string[];
                    };
                };
            };
            /** @description The harness of runs that set none. Responses omit it for the default harness. */
            harness?: {
                /**
                 * @description The harness to use. `oz` is an alias of `default`; `acp` is any agent that speaks the Agent Client Protocol: `agent` names one that comes with the sandbox, or `command` starts another.
                 * @enum {string}
                 */
                type: "default" | "oz" | "claude" | "codex" | "gemini" | "acp";
                /** @description The model of this harness. Defaults to the configuration's `model_id`. At most 512 bytes in UTF-8. */
                model_id?: string;
                /** @description The reasoning level, which precedes that of the configuration. Third-party harnesses have names of their own. */
                reasoning_level?: string;
                /** @description An agent of the type `acp` that comes with the sandbox, in a pinned version. */
                agent?: components["schemas"]["AcpAgentName"];
                /** @description The command that starts an agent of the type `acp` in the sandbox, for bash. It speaks over its standard streams. At most 4096 bytes in UTF-8. */
                command?: string;
            };
            /** @description The self-hosted worker of runs that set none. Defaults to `hosted`, a sandbox of the service. */
            worker_host?: string;
            /** @description Minutes from the run's first start after which it ends FAILED with `budget_exceeded`, 1 to 10,080. A follow-up starts them again. Not limited by default. */
            timeout_minutes?: number;
            /** @description Model responses of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 10,000. A follow-up starts the count again. Not limited by default. */
            max_steps?: number;
            /** @description Tokens of input and output of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 1,000,000,000. A follow-up starts the count again. Not limited by default. */
            max_total_tokens?: number;
            /** @description Models that the agent continues with, in this order, while a provider is down. */
            fallback_model_ids?: string[];
            /** @description How much the model reasons before it responds. A model without the level gets the nearest one that it has, and one that does not reason gets none. Defaults to the model's own. */
            reasoning_level?: components["schemas"]["ReasoningLevel"];
            /** @description The JSON Schema, of at most 64 KiB, that the agent's final message has to fit. An agent whose message does not is asked again, up to twice; then the run ends FAILED with `invalid_request`. GET /agent/runs/{runId}/response shows the value in `structured`. */
            output_schema?: components["schemas"]["StoredOutputSchema"];
            /** @description Calls that wait until a person approves them, at most 20. A run waits as `BLOCKED` with `waiting_for` `approval`. The rules of a parent hold for its children. */
            approvals?: {
                /**
                 * @description The tool's name in the conversation. Tools of MCP servers are called by `call_mcp_tool`.
                 * @enum {string}
                 */
                tool: "ask_user" | "call_mcp_tool" | "create_plan" | "create_pull_request" | "edit_files" | "get_mcp_prompt" | "glob" | "load_skill" | "message_agent" | "notify_user" | "read_command" | "read_files" | "read_mcp_resource" | "report_artifact" | "run_command" | "search_files" | "start_agent" | "stop_command" | "todo" | "wait_for_agents" | "web_fetch" | "write_command";
                /** @description A text in the command, or in the arguments as JSON of a tool without a command. `*` stands for any text, and line breaks and several spaces count as one space. Defaults to every call of the tool. At most 1024 bytes in UTF-8. */
                match?: string;
            }[];
            /** @description The author and committer of commits that set none, such as `Build Bot <bot@example.com>`. At most 512 bytes in UTF-8. Must be a name and an email address, such as Build Bot <bot@example.com>. */
            commit_author?: string;
            /** @description The secrets with the API keys for its runs' calls to Anthropic's and OpenAI's models. */
            harness_auth_secrets?: {
                /** @description The name of the secret with the API key for Anthropic's models. */
                claude_auth_secret_name?: string;
                /** @description The name of the secret with the API key for OpenAI's models. */
                codex_auth_secret_name?: string;
            };
            /** @description The secrets available to runs, at most 50. */
            secrets: {
                /** @description The secret's name. */
                name: string;
            }[];
            /** @description The identity's memory across runs. */
            memory: {
                /** @description The automatic memory. */
                auto_memory: {
                    /** @description Whether the automatic memory is enabled. */
                    enabled: boolean;
                };
                /** @description The ids of the attached memory stores. */
                attached_stores: string[];
            };
            /** @description The default execution location of the identity's runs. */
            default_runner_uid: string;
            /** @description Whether keys of the identity may create runs on behalf of members. Defaults to false. */
            on_behalf_of_enabled?: boolean;
            /**
             * @description Whose credentials its runs use: their creator's or their executor's. Has no effect in this release.
             * @enum {string}
             */
            credential_strategy?: "CREATOR" | "EXECUTOR";
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description Whom the token is for. */
        IdentityTokenRequest: {
            /** @description The `aud` claim of the token, as the other system expects it. At most 512 bytes in UTF-8. */
            audience: string;
        };
        /** @description A token that proves to other systems which run presents it. */
        IdentityTokenResponse: {
            /** @description The token, a signed JWT. */
            token: string;
            /**
             * Format: date-time
             * @description The expiry time of the token.
             */
            expires_at: string;
        };
        /** @description A secret of the run's environment or identity: its value, or why it is unavailable, which fails the run. */
        InjectedSecret: {
            /** @description The name of the environment variable. */
            name: string;
            /** @description The value of the secret. */
            value: string;
            /**
             * @description True if the value is a token that the service can renew.
             * @constant
             */
            renewable?: true;
            /** @description Why the token was not renewed though it should have been, and what to do. */
            problem?: string;
        } | {
            /** @description The name of the environment variable. */
            name: string;
            /** @description Why the run cannot have the secret. The harness must fail the run. */
            unavailable: string;
        };
        /** @description A claim that was started. Both pages of GitHub redirect to the page of the web app that completes it, if there is one. */
        InstallationClaim: {
            /** @description GitHub's page that installs the App and authorizes it. */
            install_url: string;
            /** @description GitHub's page that only authorizes the App, for an installation that exists. */
            authorize_url: string;
            /**
             * Format: date-time
             * @description The time after which the claim cannot be completed. RFC 3339 with an offset.
             */
            expires_at: string;
        };
        /** @description An installation of the deployment's GitHub App that the team has claimed. */
        InstallationItem: {
            /** @description GitHub's id of the installation. */
            installation_id: number;
            /** @description The account that it is installed on. */
            account: components["schemas"]["GithubAccount"];
            /** @description The repositories of the account that it gives access to. */
            repository_selection: components["schemas"]["RepositorySelection"];
            /** @description The team that uses it. */
            scope: {
                /**
                 * @description An installation belongs to a team.
                 * @constant
                 */
                type: "Team";
                /** @description The team's id. */
                uid: string;
            };
            /** @description The person who claimed it. */
            claimed_by: components["schemas"]["RunCreatorInfo"];
            /**
             * Format: date-time
             * @description The time of the claim. RFC 3339 with an offset.
             */
            claimed_at: string;
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description A request to end the current turn. Each number is new and higher than those before it. */
        Interrupt: {
            /** @description The number of the interrupt, higher than those before it. */
            number: number;
            /** @description The name of the person or identity that interrupted. */
            by: string;
        };
        /** @description The interrupted run. */
        InterruptRunResponse: {
            /** @description The run's id. */
            run_id: string;
        };
        /** @description An open invitation. */
        InvitationItem: {
            /** @description The invitation's id. */
            id: string;
            /** @description The email address of the invited person. */
            email: string;
            /** @description The role in the team after acceptance. */
            role: components["schemas"]["Role"];
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The expiry time, 7 days after creation.
             */
            expires_at: string;
        };
        /** @description An API key without its value. */
        KeyItem: {
            /** @description The key's id. */
            uid: string;
            /** @description The key's name. */
            name: string;
            /** @description The last four characters of the key. */
            suffix: string;
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /** @description The person who created the key. Absent for keys from before this was recorded. */
            created_by?: components["schemas"]["RunCreatorInfo"];
            /**
             * Format: date-time
             * @description The expiry time. Absent for a key that does not expire.
             */
            expires_at?: string;
            /** @description What the key may be used for. */
            scopes: components["schemas"]["Scope"][];
            /** @description The maximum cost of its runs in a calendar month. Absent where it is not limited. */
            max_budget_usd?: number;
            /** @description The maximum number of runs that it creates in a day. Absent where it is not limited. */
            max_runs_per_day?: number;
            /**
             * Format: date-time
             * @description The time of the latest request with the key that changed something, to the hour.
             */
            last_used_at?: string;
        };
        /** @description The latest delivery to a trigger, and its outcome if it has one yet. */
        LastDelivery: {
            /**
             * Format: date-time
             * @description The time of its arrival.
             */
            at: string;
            /** @description What it resulted in. */
            outcome?: components["schemas"]["TriggerOutcome"];
        };
        /** @description A page of skills. */
        ListAgentsResponse: {
            /** @description The skills, grouped by name. */
            agents: components["schemas"]["AgentItem"][];
            /** @description The repositories that could not be read completely. Absent if there are none. */
            unavailable?: components["schemas"]["UnavailableRepository"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of a team's audit log, newest first. */
        ListAuditEventsResponse: {
            /** @description The events, newest first. */
            events: components["schemas"]["AuditEvent"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of deliveries. */
        ListDeliveriesResponse: {
            /** @description The deliveries, newest first. */
            deliveries: components["schemas"]["DeliveryItem"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of environments. */
        ListEnvironmentsResponse: {
            /** @description The environments visible to the caller. */
            environments: components["schemas"]["EnvironmentItem"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of follow-ups. */
        ListFollowupsResponse: {
            /** @description The follow-ups, in the order of delivery. */
            followups: components["schemas"]["FollowupItem"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of identities. */
        ListIdentitiesResponse: {
            /** @description The identities, oldest first. */
            agents: components["schemas"]["IdentityItem"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of installations. */
        ListInstallationsResponse: {
            /** @description The installations of the team, in the order of their ids. */
            installations: components["schemas"]["InstallationItem"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of invitations. */
        ListInvitationsResponse: {
            /** @description The open invitations. */
            invitations: components["schemas"]["InvitationItem"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of API keys. */
        ListKeysResponse: {
            /** @description The API keys, without their values. */
            keys: components["schemas"]["KeyItem"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of members. */
        ListMembersResponse: {
            /** @description The members of the team. */
            members: components["schemas"]["MemberItem"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of runs. */
        ListRunsResponse: {
            /** @description One page of runs. */
            runs: components["schemas"]["RunItem"][];
            /** @description The position of the page in the list. */
            page_info: components["schemas"]["PageInfo"];
        };
        /** @description A page of schedules. */
        ListSchedulesResponse: {
            /** @description The schedules, sorted by name. */
            schedules: components["schemas"]["ScheduleItem"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of secrets. */
        ListSecretsResponse: {
            /** @description The secrets, without their values. */
            secrets: components["schemas"]["SecretItem"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of teams. */
        ListTeamsResponse: {
            /** @description The teams, oldest first. */
            teams: components["schemas"]["TeamItem"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of planned firings. */
        ListTicksResponse: {
            /** @description The planned firings, newest first. */
            ticks: {
                /**
                 * Format: date-time
                 * @description The planned time.
                 */
                scheduled_at: string;
                /** @description The outcome of the firing. */
                outcome: components["schemas"]["TickOutcome"];
                /**
                 * Format: date-time
                 * @description The time when the outcome was recorded.
                 */
                recorded_at: string;
                /** @description The id of the created run. Present if the firing created one. */
                run_id?: string;
                /** @description Why the firing created no run in time. Absent for `fired`. */
                reason?: string;
            }[];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of deliveries to a trigger. */
        ListTriggerDeliveriesResponse: {
            /** @description The deliveries, newest first. */
            deliveries: components["schemas"]["TriggerDelivery"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of triggers. */
        ListTriggersResponse: {
            /** @description The triggers, oldest first. */
            triggers: components["schemas"]["TriggerItem"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of trust rules. */
        ListTrustRulesResponse: {
            /** @description The trust rules, oldest first. */
            trust_rules: components["schemas"]["TrustRuleItem"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of web sessions. */
        ListWebSessionsResponse: {
            /** @description The caller's web sessions, oldest first. */
            sessions: components["schemas"]["WebSessionItem"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of webhooks. */
        ListWebhooksResponse: {
            /** @description The webhooks, oldest first. */
            webhooks: components["schemas"]["WebhookItem"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A page of workers. */
        ListWorkersResponse: {
            /** @description The connected workers, sorted by id. */
            workers: components["schemas"]["WorkerItem"][];
            /** @description The address that workers connect to. */
            ws_url?: string;
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description A piece of output that is still being produced. It is not part of the event sequence: the event with the whole output replaces it. */
        LiveFrame: {
            /** @description The id of the action that produces the output. Absent for the text of a message. At most 512 bytes in UTF-8. */
            action_id?: string;
            /** @description The id of the message whose text this is. Absent for the output of an action. At most 512 bytes in UTF-8. */
            message_id?: string;
            /**
             * @description `stdout` and `stderr` of an action, or `text` of a message.
             * @enum {string}
             */
            stream: "stdout" | "stderr" | "text";
            /** @description The position of the text in its stream, in bytes of UTF-8. A gap means that output was skipped. */
            offset: number;
            /** @description The text, at most 16 KiB. At most 16384 bytes in UTF-8. */
            text: string;
        };
        /** @description Live output of an execution. */
        LiveRequest: {
            /** @description The id of the execution, one attempt to execute the run. At most 512 bytes in UTF-8. */
            execution_id: string;
            /** @description The pieces of output, in order, 1 to 16. */
            frames: components["schemas"]["LiveFrame"][];
        };
        /** @description Whether the live output is being read. */
        LiveResponse: {
            /** @description If false, stop sending frames until a heartbeat or a request for messages returns true. */
            watched: boolean;
        };
        /** @description An MCP server: a shared one (`warp_id`), a program (`command`) or a remote one (`url`). Exactly one of these is required. */
        MCPServerConfig: {
            /** @description The id of a shared server. This release reports such a server to the agent as unavailable. At most 512 bytes in UTF-8. */
            warp_id?: string;
            /** @description The program to start in the sandbox. At most 4096 bytes in UTF-8. */
            command?: string;
            /** @description The program's arguments, at most 64. */
            args?: string[];
            /** @description The program's environment variables. Values are secrets: responses show `***`. */
            env?: {
                [key: string]: string;
            };
            /** @description The URL of a remote server. Must be an http or https URL. */
            url?: string;
            /** @description The HTTP headers of each request to the server. Values are secrets: responses show `***`. */
            headers?: {
                [key: string]: string;
            };
            /** @description Whether the server is kept in the configuration without being started or connected to. Defaults to false. */
            disabled?: boolean;
            /** @description The server's tools that the agent may use: those of `include`, or all, without those of `exclude`. */
            tools?: {
                /** @description The tools to use, at most 100. Defaults to all. */
                include?: string[];
                /** @description The tools not to use, at most 100. */
                exclude?: string[];
            };
        };
        /** @description The runs that a request is about. */
        MatchingRunsRequest: {
            /** @description Which runs. Takes the filters of `GET /agent/runs`, at least one. Required unless `all` is true. */
            filter?: components["schemas"]["RunFilter"];
            /**
             * @description True for all runs, in place of a filter.
             * @constant
             */
            all?: true;
            /** @description The `page_info.next_cursor` of the previous response. At most 4096 bytes in UTF-8. */
            cursor?: string;
        };
        /** @description A message of the Model Context Protocol: a request has an `id`, a notification has none. Responses of clients have no `method`. */
        McpMessage: {
            /**
             * @description The version of JSON-RPC.
             * @constant
             */
            jsonrpc: "2.0";
            /** @description The id of a request, which its response repeats. A notification has none. */
            id?: string | number;
            /** @description What the client requests, such as `tools/list` or `tools/call`. */
            method?: string;
            /** @description The arguments of the method. */
            params?: {
                [key: string]: unknown;
            };
            /** @description The result of a response of the client, which is ignored. */
            result?: unknown;
            /** @description The error of a response of the client, which is ignored. */
            error?: unknown;
        };
        /** @description The response to a request of the Model Context Protocol. */
        McpResponse: {
            /**
             * @description The version of JSON-RPC.
             * @constant
             */
            jsonrpc: "2.0";
            /** @description The id of the request. */
            id: string | number;
            /** @description The result of the method. */
            result?: {
                [key: string]: unknown;
            };
            /** @description Why there is no result. Errors of tools are results with `isError`. */
            error?: {
                /** @description The code of JSON-RPC. */
                code: number;
                /** @description What is wrong. */
                message: string;
            };
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description The caller. */
        Me: {
            /** @description The person's id. */
            uid: string;
            /** @description The display name. */
            display_name: string;
            /** @description The person's email address. */
            email: string;
            /** @description The caller's memberships. */
            teams: components["schemas"]["Membership"][];
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description A member of a team. */
        MemberItem: {
            /** @description The person's id. */
            uid: string;
            /** @description The person's email address. */
            email: string;
            /** @description The display name. */
            display_name: string;
            /** @description The person's role in the team. */
            role: components["schemas"]["Role"];
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description A team from the view of its member. */
        Membership: {
            /** @description The team's id. */
            uid: string;
            /** @description The team's name. */
            name: string;
            /** @description The caller's role in the team. */
            role: components["schemas"]["Role"];
        };
        /** @description A message of a conversation. */
        Message: {
            /**
             * @description The author of the message.
             * @enum {string}
             */
            role: "user" | "assistant" | "tool" | "system";
            /** @description The blocks of the message, in order: text, actions, action results and events. */
            content: components["schemas"]["Block"][];
            /** @description The ids of the messages that were merged into this one. */
            message_ids?: string[];
            /** @description The id of the model request that produced the message. At most 512 bytes in UTF-8. */
            request_id?: string;
            /**
             * Format: date-time
             * @description The time of the message. RFC 3339 with an offset.
             */
            timestamp?: string;
        };
        /** @description Messages to append to the conversation of a run. */
        MessagesRequest: {
            /** @description The id of the caller's execution. At most 512 bytes in UTF-8. */
            execution_id: string;
            /** @description The number of the first of these messages within the run. */
            first_sequence: number;
            /** @description The messages to append, 1 to 200. */
            messages: components["schemas"]["Message"][];
        };
        /** @description The result of appending messages. */
        MessagesResponse: {
            /** @description The `first_sequence` of the next messages. */
            next_sequence: number;
            /** @description Whether live output is being read. */
            watched?: boolean;
        };
        /** @description Labels: at most 20 keys. The labels of a run cannot be changed. */
        Metadata: {
            [key: string]: string;
        };
        /** @description A model that runs can use, unless it has a `disable_reason`. */
        Model: {
            /** @description The model's id, the value for `model_id` of a configuration. */
            id: string;
            /** @description The model's name. */
            display_name: string;
            /**
             * @description The provider of the model.
             * @enum {string}
             */
            provider: "OPENAI" | "ANTHROPIC" | "GOOGLE" | "AMAZON" | "LOCAL" | "UNKNOWN";
            /** @description Whether the model accepts images. */
            vision_supported: boolean;
            /** @description A description of the model. */
            description?: string;
            /** @description The default reasoning level, as the provider calls it. */
            reasoning_level?: string;
            /** @description The price of the model. Absent if unknown. */
            cost?: components["schemas"]["ModelCost"];
            /**
             * @description Why the model cannot be used at the moment. Absent if it can.
             * @enum {string}
             */
            disable_reason?: "PROVIDER_OUTAGE" | "OUT_OF_REQUESTS" | "ADMIN_DISABLED" | "REQUIRES_UPGRADE";
        };
        /** @description The price of a model. */
        ModelCost: {
            /** @description US dollars per million input tokens. */
            input_per_million_usd: number;
            /** @description US dollars per million output tokens. */
            output_per_million_usd: number;
            /** @description US dollars per million input tokens that the provider reads from its cache. Absent if the default of its API applies. */
            cache_read_per_million_usd?: number;
            /** @description US dollars per million input tokens that the provider writes to its cache. Absent if the default of its API applies. */
            cache_write_per_million_usd?: number;
            /** @description Other prices for calls with more input. The last step that the call exceeds applies to all of its tokens. */
            steps?: components["schemas"]["CostStep"][];
        };
        /** @description The models of the deployment. */
        ModelsResponse: {
            /** @description The model of runs that set none. */
            default_model_id: string;
            /** @description The models of the deployment. */
            models: components["schemas"]["Model"][];
        };
        /** @description The cost of a team's model calls in the current calendar month (UTC). */
        MonthlySpending: {
            /** @description The setting `budget_usd_month`. Null: not limited. */
            budget_usd: number | null;
            /** @description The cost of the calls that have ended, in US dollars. */
            spent_usd: number;
            /**
             * Format: date-time
             * @description The beginning of the next month.
             */
            renews_at: string;
        };
        /** @description What commands of an environment may call: everything, the domains of a list, or nothing. Must name at least one domain or preset; for no network, set network.mode to none. Have an effect with the mode allowlist only: set network.mode to allowlist, or leave domains out. */
        Network: {
            /**
             * @description `open` (everything), `allowlist` (the `domains`) or `none`.
             * @enum {string}
             */
            mode: "open" | "allowlist" | "none";
            /** @description The domains of the mode `allowlist`: names, `*.` with a name, and the presets `packages` and `repository`. */
            domains?: string[];
        };
        /** @description A notification of the run's user. */
        NotifyUserRequest: {
            /** @description The message to the user, at most 4,096 bytes. At most 4096 bytes in UTF-8. */
            message: string;
        };
        /** @description What an OIDC issuer has redirected the browser with, and the secret that the browser has kept. */
        OidcCodeRequest: {
            /** @description The authorization code. */
            code: string;
            /** @description The `state` of the redirect. */
            state: string;
            /** @description The PKCE code verifier. Must have 43 to 128 letters, digits and characters of `-._~`. */
            code_verifier: string;
        };
        /** @description The JSON Schema that the response of an agent has to fit. A JSON Schema of at most 65536 bytes in UTF-8. It cannot refer to other documents. */
        OutputSchema: {
            [key: string]: unknown;
        };
        /**
         * @description What happens if an earlier run of the schedule is still active at a firing.
         * @enum {string}
         */
        Overlap: "allow" | "skip" | "cancel_previous";
        /** @description The position of a page in a list. */
        PageInfo: {
            /** @description Whether there is another page. */
            has_next_page: boolean;
            /** @description The `cursor` of the next page. Absent on the last page. */
            next_cursor?: string;
        };
        /** @description The files to upload for a follow-up of a run. One of the two members is required. */
        PrepareAttachmentsRequest: {
            /** @description The files to upload, 1 to 25. Required unless the request has `attachments`. */
            files?: {
                /** @description The name that the agent sees, unless the follow-up names another one. At most 255 bytes in UTF-8. Must be a file name without directories. */
                filename: string;
                /** @description The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain. */
                mime_type: string;
                /** @description The file's size in bytes. */
                size_bytes?: number;
                /** @description The SHA-256 digest of the file. Must have 64 lowercase hexadecimal digits. */
                sha256?: string;
            }[];
            /** @description An alias of `files`, whose items have `file_name` in place of `filename`. */
            attachments?: {
                /** @description The name that the agent sees, unless the follow-up names another one. At most 255 bytes in UTF-8. Must be a file name without directories. */
                file_name: string;
                /** @description The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain. */
                mime_type: string;
                /** @description The file's size in bytes. */
                size_bytes?: number;
                /** @description The SHA-256 digest of the file. Must have 64 lowercase hexadecimal digits. */
                sha256?: string;
            }[];
        };
        /** @description The prepared attachments, in the order of the request. */
        PrepareAttachmentsResponse: {
            /** @description The prepared attachments, in the order of the request. */
            attachments: {
                /** @description The attachment's id. */
                attachment_id: string;
                /** @description The URL for the file: a `PUT` with the file as body and its `mime_type` as `Content-Type`. */
                upload_url: string;
                /** @description Where to upload the file. With `size_bytes` and `sha256`, storage accepts these bytes only. */
                upload_target: components["schemas"]["UploadTarget"];
                /**
                 * Format: date-time
                 * @description The time until which the file can be uploaded.
                 */
                expires_at: string;
            }[];
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description The cloud providers that commands sign in to with the identity of their run, without a secret. */
        Providers: {
            /** @description The AWS role of commands. They get `AWS_ROLE_ARN`, `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_SESSION_NAME`. */
            aws?: {
                /** @description The ARN of the role, such as `arn:aws:iam::123456789012:role/deploy`. Must be the ARN of a role of IAM. */
                role_arn: string;
            };
            /** @description The Google Cloud identity of commands. They get `GOOGLE_APPLICATION_CREDENTIALS`, a file of the type `external_account`. */
            gcp?: {
                /** @description The number of the project that has the pool. Must be the number of a project. */
                project_number: string;
                /** @description The id of the workload identity pool. Must have 4 to 32 of the characters a-z 0-9 - and start with a letter. */
                workload_identity_federation_pool_id: string;
                /** @description The id of the provider in that pool. Must have 4 to 32 of the characters a-z 0-9 - and start with a letter. */
                workload_identity_federation_provider_id: string;
                /** @description The service account that commands act as. Defaults to the identity of the pool itself. Must be the address of a service account. */
                service_account_email?: string;
            };
        };
        /** @description An artifact of a publicly shared run, without URLs. Its content is downloaded by its uid. */
        PublicArtifact: {
            /** @description The type of the artifact. */
            artifact_type: components["schemas"]["ArtifactType"];
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /** @description The artifact's id, by which it is downloaded. Absent if it has none. */
            artifact_uid?: string;
            /** @description The artifact's title. */
            title?: string;
            /** @description A description of the artifact. */
            description?: string;
            /** @description The file's name. */
            filename?: string;
            /** @description The file's media type. */
            mime_type?: string;
            /** @description The file's size in bytes. */
            size_bytes?: number;
        };
        /** @description A run that is shared publicly: no names of people, no configuration, no URLs. */
        PublicRun: {
            /** @description The run's title. */
            title: string;
            /** @description The run's current state. */
            state: components["schemas"]["RunState"];
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /** @description The time that the run was executing, as an ISO 8601 duration. */
            run_time?: string;
            /** @description The messages of the run. Absent where a third-party harness stores them in its own format. */
            conversation?: components["schemas"]["Conversation"];
            /** @description The run's artifacts, oldest first. */
            artifacts: components["schemas"]["PublicArtifact"][];
        };
        /**
         * @description The status of a pull request when it was last reported; `unknown` if the report did not name it.
         * @enum {string}
         */
        PullRequestStatus: "open" | "draft" | "merged" | "closed" | "unknown";
        /** @description Commits to push to the branch of the run's pull request. */
        PushBranchRequest: {
            /** @description The id of the commit that the branch gets. Must have 40 lowercase hexadecimal digits. */
            commit: string;
            /** @description The size of the pack in bytes. */
            size_bytes: number;
            /** @description The SHA-256 digest of the pack, a git pack of version 2 whose objects are complete. Must have 64 lowercase hexadecimal digits. */
            sha256: string;
        };
        /** @description Where to upload the pack, or what was pushed. */
        PushBranchResponse: {
            /** @description Where to upload the pack. Absent if it is already uploaded. */
            upload?: components["schemas"]["UploadTarget"];
            /** @description The branch, once it has the commit. */
            branch?: string;
        };
        /**
         * @description How much a model reasons before it responds.
         * @enum {string}
         */
        ReasoningLevel: "none" | "minimal" | "low" | "medium" | "high" | "max";
        /** @description The response to a delivery that was verified: its id, or the answer to the question that Slack asks about a new URL. */
        ReceivedDelivery: {
            /** @description The delivery's id. */
            delivery_id?: string;
            /** @description The text of Slack's question about a new URL. There is no delivery then. */
            challenge?: string;
        };
        /** @description One of the latest runs of a schedule or a trigger. */
        RecentRun: {
            /** @description The run's id. */
            run_id: string;
            /** @description The run's current state. */
            state: components["schemas"]["RunState"];
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
        };
        /** @description The result of a request to send deliveries again. */
        RedeliverResponse: {
            /** @description The number of deliveries that are sent again. */
            redelivered: number;
            /** @description The `from_sequence` of the next request, if there are more deliveries. */
            next_sequence?: number;
        };
        /** @description The effect of removing a member on the team's agent keys. */
        RemovedMember: {
            /** @description The agent keys that the member created. They are revoked. */
            revoked_keys: components["schemas"]["TeamKey"][];
            /** @description The agent keys that remain valid: with `keep_keys`, or because their creator is unknown. */
            kept_keys: components["schemas"]["TeamKey"][];
        };
        /** @description The artifact to report. The members of `data` depend on `artifact_type`. */
        ReportArtifactRequest: {
            /**
             * @description The type of the artifact.
             * @constant
             */
            artifact_type: "PLAN";
            /** @description The artifact. Its shape depends on `artifact_type`. */
            data: {
                /** @description Identifies the plan within its run: reporting it again replaces it. At most 512 bytes in UTF-8. */
                document_uid?: string;
                /** @description The id of the notebook that contains the document. At most 512 bytes in UTF-8. */
                notebook_uid?: string;
                /** @description The artifact's title. */
                title?: string;
                /** @description The https URL of the document, pull request or external resource, without credentials. At most 2048 bytes in UTF-8. Must be an https URL without credentials. */
                url?: string;
                /** @description The full text of the document, in Markdown. At most 262144 bytes in UTF-8. */
                content: string;
            };
        } | {
            /**
             * @description The type of the artifact.
             * @constant
             */
            artifact_type: "PULL_REQUEST";
            /** @description The artifact. Its shape depends on `artifact_type`. */
            data: {
                /** @description The https URL of the document, pull request or external resource, without credentials. At most 2048 bytes in UTF-8. Must be an https URL without credentials. */
                url: string;
                /** @description The branch of the pull request. At most 256 bytes in UTF-8. */
                branch: string;
                /** @description The status of the pull request. Reporting it again with another status updates its artifact. */
                status?: components["schemas"]["PullRequestStatus"];
            };
        } | {
            /**
             * @description The type of the artifact.
             * @constant
             */
            artifact_type: "SCREENSHOT";
            /** @description The artifact. Its shape depends on `artifact_type`. */
            data: {
                /** @description The file's media type. At most 255 bytes in UTF-8. Must be an image type such as image/png. */
                mime_type: string;
                /** @description The file's size in bytes. */
                size_bytes: number;
                /** @description The SHA-256 digest of the file. Must have 64 lowercase hexadecimal digits. */
                sha256: string;
                /** @description A description of the artifact, at most 1,024 characters. */
                description?: string;
            };
        } | {
            /**
             * @description The type of the artifact.
             * @constant
             */
            artifact_type: "FILE";
            /** @description The artifact. Its shape depends on `artifact_type`. */
            data: {
                /** @description The file's path in the workspace. At most 1024 bytes in UTF-8. Must be a relative path without . or .. segments. */
                filepath: string;
                /** @description The file's name. At most 255 bytes in UTF-8. Must be a file name without slashes. */
                filename: string;
                /** @description The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain. */
                mime_type: string;
                /** @description The file's size in bytes. */
                size_bytes: number;
                /** @description The SHA-256 digest of the file. Must have 64 lowercase hexadecimal digits. */
                sha256: string;
                /** @description A description of the artifact, at most 1,024 characters. */
                description?: string;
                /** @description The artifact's title. */
                title?: string;
                /** @description Marks the file as the patch of a repository's changes. */
                git?: components["schemas"]["GitChanges"];
            };
        } | {
            /**
             * @description The type of the artifact.
             * @constant
             */
            artifact_type: "EXTERNAL_REFERENCE";
            /** @description The artifact. Its shape depends on `artifact_type`. */
            data: {
                /** @description The type of the external resource, such as `issue`. */
                reference_type: string;
                /** @description The https URL of the document, pull request or external resource, without credentials. At most 2048 bytes in UTF-8. Must be an https URL without credentials. */
                url: string;
                /** @description The artifact's title. */
                title?: string;
                /** @description Labels of the reference: at most 20 keys, with values of at most 256 bytes. */
                metadata?: components["schemas"]["Metadata"];
            };
        };
        /** @description The reported artifact, with its upload target if the file is still to be uploaded. */
        ReportArtifactResponse: {
            /** @description The artifact's id. */
            artifact_uid: string;
            /** @description Where to upload the file. Absent if the file is already uploaded. */
            upload?: components["schemas"]["UploadTarget"];
        };
        /** @description The shutdown of a sandbox. */
        ReportShutdownRequest: {
            /** @description The cause of the shutdown. Absent if the sandbox stopped normally. */
            error?: {
                /** @description The category of the failure. */
                category: string;
                /** @description The error message. At most 4096 bytes in UTF-8. */
                message: string;
            };
        };
        /** @description A Git repository to clone. */
        Repository: {
            /** @description The URL to clone, without credentials. At most 2048 bytes in UTF-8, without credentials: store them as a secret and name it in `token_secret`. */
            url: string;
            /** @description The branch, tag or commit to check out. Defaults to the repository's default branch. At most 256 bytes in UTF-8. Must be a branch, tag or commit. */
            ref?: string;
            /** @description The directory in the workspace. Defaults to the last segment of the URL. At most 256 bytes in UTF-8. Must be a relative path inside the workspace. */
            path?: string;
            /** @description The name of the secret that contains the access token for an https URL. */
            token_secret?: string;
            /** @description The number of commits to clone. Defaults to the whole history. */
            depth?: number;
            /** @description Whether to clone submodules: those of the same owner, and those that `repositories` name. Defaults to false. */
            submodules?: boolean;
            /** @description Whether to download the files in Git LFS. Defaults to false, which leaves their pointers. */
            lfs?: boolean;
            /** @description The directories to check out, at most 50, besides the files at the top. Defaults to the whole repository. */
            sparse_paths?: string[];
        };
        /**
         * @description The repositories of the account that the App may access: all of them, or those that its owner has selected.
         * @enum {string}
         */
        RepositorySelection: "all" | "selected";
        /** @description An access token for one repository, valid for this execution only. */
        RepositoryToken: {
            /** @description The URL of the repository that the token is for. */
            url: string;
            /** @description The token. */
            token: string;
            /**
             * Format: date-time
             * @description The expiry time of the token.
             */
            expires_at: string;
        };
        /** @description What a run's model calls have used and cost. */
        RequestUsage: {
            /** @description The cost of model calls, in US dollars. */
            inference_cost?: number;
            /** @description The estimated cost of the run's sandboxes, in US dollars. */
            compute_cost?: number;
            /** @description The platform fee, in US dollars. */
            platform_cost?: number;
            /** @description The cost of model calls, in US dollars; the same as `inference_cost`. */
            inference_cost_usd?: number;
            /** @description The estimated cost of the run's sandboxes, in US dollars, by their time and size; the same as `compute_cost`. Absent if unknown, such as for self-hosted workers. Budgets do not count it. */
            compute_cost_usd?: number;
            /** @description The platform fee, in US dollars. Absent where there is none. */
            platform_cost_usd?: number;
            /** @description The number of input and output tokens of all models. */
            total_tokens?: number;
            /** @description The number of input tokens, including those read from or written to a cache. */
            input_tokens?: number;
            /** @description The number of output tokens. */
            output_tokens?: number;
            /** @description The number of input tokens read from the cache of a provider. */
            cache_read_tokens?: number;
            /** @description The number of input tokens written to the cache of a provider. */
            cache_write_tokens?: number;
            /** @description The tokens of each model. Calls before the upgrade to the release that counts them are not included. */
            model_token_usage?: {
                /** @description The model's id. */
                model_id: string;
                /** @description The number of input and output tokens of this model. */
                total_tokens: number;
                /**
                 * @description `byok` for a key of the team or the run, `custom_endpoint` for a compatible server. Absent for the key of the deployment.
                 * @enum {string}
                 */
                usage_type?: "byok" | "custom_endpoint";
                /** @description The tokens by category. Each token is in one: `input` was neither read from nor written to a cache. */
                tokens_by_category?: {
                    [key: string]: number;
                };
            }[];
            /** @description The usage of the run and of all its descendants. Only in the response for a single run. */
            tree?: {
                /** @description The cost of their model calls and their compute, in US dollars. */
                cost_usd: number;
                /** @description The number of their input and output tokens. */
                total_tokens: number;
                /** @description The number of runs, this one included. */
                runs: number;
            };
        };
        /** @description What a valid request has that has no effect. */
        RequestWarning: {
            /**
             * @description `unknown_member`: a member of the request body that this release does not know.
             * @enum {string}
             */
            code: "unknown_member";
            /** @description The path of the member in the request body, such as `config.modelId`. */
            path: string;
            /** @description What is wrong with the member, with a similar one if there is one. */
            message: string;
        };
        /** @description The first request of an execution. */
        ResolvePromptRequest: {
            /** @description The skill that the harness has loaded, to be shown with the run. */
            skill?: {
                /** @description The skill's name, at most 256 characters. */
                name: string;
                /** @description The text of the skill's file. At most 262144 bytes in UTF-8. */
                content: string;
                /** @description The path of the skill's file in its repository. At most 1024 bytes in UTF-8. */
                path?: string;
            };
            /** @description The directory for attachments. Has no effect in this release. At most 1024 bytes in UTF-8. */
            attachments_dir?: string;
            /** @description The names of secrets whose tokens a server has refused. They are renewed first, if possible. */
            refused_secrets?: string[];
        };
        /** @description Everything that a harness needs to start an execution. */
        ResolvePromptResponse: {
            /** @description The task of the run. */
            prompt: string;
            /** @description The system prompt of the agent. */
            system_prompt?: string;
            /** @description The instructions for continuing after an interruption. Absent for a first execution. */
            resumption_prompt?: string;
            /** @description Everything else that the harness needs to start. */
            context?: {
                /** @description The run's id. */
                run_id: string;
                /** @description The id of the execution, one attempt to execute the run. */
                execution_id: string;
                /** @description The conversation's id. */
                conversation_id: string;
                /** @description The run's title. */
                title: string;
                /** @description The person who created the run, whom its commits name. Absent for an identity, and for a person without an email address. */
                creator?: {
                    /** @description The person's display name, or their email address. */
                    name: string;
                    /** @description The person's email address. */
                    email: string;
                };
                /** @description The mode of the execution. */
                mode: components["schemas"]["RunMode"];
                /** @description The resolved configuration, with all defaults applied. */
                agent_config: components["schemas"]["ResolvedAgentConfig"];
                /** @description The models of the run that accept images. */
                vision_models?: string[];
                /** @description By model, the API of those models of the run whose ids do not name a known provider. */
                model_apis?: {
                    [key: string]: "messages" | "chat" | "responses";
                };
                /** @description The commands of the environment to run before the first turn, in order. */
                setup_commands?: string[];
                /** @description The container image of the environment, for a harness whose sandbox is not a container of that image. */
                docker_image?: string;
                /** @description The plain environment variables of commands. Secrets of the same name take precedence. */
                variables?: {
                    [key: string]: string;
                };
                /** @description The cloud providers that commands sign in to with identity tokens of the run. */
                providers?: components["schemas"]["Providers"];
                /** @description What commands, clones and MCP servers may call. */
                network?: components["schemas"]["StoredNetwork"];
                /** @description The MCP servers by name, including the values of environment variables and headers. */
                mcp_servers?: {
                    [key: string]: {
                        /** @description The id of a shared server. This release reports such a server to the agent as unavailable. At most 512 bytes in UTF-8. */
                        warp_id?: string;
                        /** @description The program to start in the sandbox. At most 4096 bytes in UTF-8. */
                        command?: string;
                        /** @description The program's arguments, at most 64. */
                        args?: string[];
                        /** @description The program's environment variables. Values are secrets: responses show `***`. */
                        env?: {
                            [key: string]: string;
                        };
                        /** @description The URL of a remote server. Must be an http or https URL. */
                        url?: string;
                        /** @description The HTTP headers of each request to the server. Values are secrets: responses show `***`. */
                        headers?: {
                            [key: string]: string;
                        };
                        /** @description Whether the server is kept in the configuration without being started or connected to. Defaults to false. */
                        disabled?: boolean;
                        /** @description The server's tools that the agent may use: those of `include`, or all, without those of `exclude`. */
                        tools?: {
                            /** @description The tools to use, at most 100. Defaults to all. */
                            include?: string[];
                            /** @description The tools not to use, at most 100. */
                            exclude?: string[];
                        };
                    };
                };
                /** @description The secrets to set as environment variables of commands. */
                secrets?: components["schemas"]["InjectedSecret"][];
                /** @description Read-only tokens for private repositories of the configuration, valid for at most one hour. */
                repository_tokens?: components["schemas"]["RepositoryToken"][];
                /** @description The branch that `push-branch` pushes to, at the end of each turn that commits to it. Absent if the run may push none. */
                push?: {
                    /** @description The URL of the repository in `agent_config`. */
                    url: string;
                    /** @description The branch, which is checked out. */
                    branch: string;
                };
                /** @description Identifies the owner of the run. What a machine keeps between runs, only runs with the same value use. */
                cache_scope?: string;
                /** @description The attachments of the run and of its follow-ups. */
                attachments: {
                    /** @description The attachment's id. */
                    attachment_id: string;
                    /** @description The file's name. */
                    filename: string;
                    /**
                     * Format: uri
                     * @description A time-limited URL of the file. Do not send credentials to it.
                     */
                    download_url: string;
                    /** @description The file's media type. */
                    mime_type?: string;
                }[];
                /** @description The messages of the conversation so far, in order. */
                messages: components["schemas"]["Message"][];
                /** @description How many of `messages`, counted from the end, belong to this run. */
                own_messages?: number;
                /** @description The `first_sequence` of the next messages. */
                next_sequence: number;
                /** @description The workspace of an earlier execution, to restore before the first turn. Absent for a first execution. */
                checkpoint?: {
                    /** @description The name of the snapshot within its execution. */
                    generation: string;
                    /** @description The files of the checkpoint. */
                    files: components["schemas"]["SavedFile"][];
                };
                /** @description The setup snapshot of the environment. Absent for a run without setup commands, and with a `checkpoint`. */
                setup_snapshot?: components["schemas"]["RunSetup"];
                /** @description The follow-ups that the harness has not stored yet, in order. */
                followups: components["schemas"]["Followup"][];
                /** @description The request to end the current turn. Absent if there is none, or the conversation already shows it. */
                interrupt?: components["schemas"]["Interrupt"];
                /** @description Seconds until the next heartbeat is due. */
                next_heartbeat_seconds: number;
                /** @description Whether `finish-task` takes the last messages and the number of stored follow-ups. */
                finish_takes_messages?: boolean;
            };
        };
        /** @description The configuration of an agent with all defaults applied. Secret values and credentials are shown as `***`, and `skill_spec` is the first of `skills`. */
        ResolvedAgentConfig: {
            /** @description The configuration's name. Defaults to the name of the skill. */
            name?: string;
            /** @description The model's id. Defaults to the team's model. At most 512 bytes in UTF-8. */
            model_id?: string;
            /** @description Models that the agent continues with, in this order, while a provider is down. */
            fallback_model_ids?: string[];
            /** @description How much the model reasons before it responds. A model without the level gets the nearest one that it has, and one that does not reason gets none. Defaults to the model's own. */
            reasoning_level?: components["schemas"]["ReasoningLevel"];
            /** @description The JSON Schema, of at most 64 KiB, that the agent's final message has to fit. An agent whose message does not is asked again, up to twice; then the run ends FAILED with `invalid_request`. GET /agent/runs/{runId}/response shows the value in `structured`. */
            output_schema?: components["schemas"]["StoredOutputSchema"];
            /** @description Calls that wait until a person approves them, at most 20. A run waits as `BLOCKED` with `waiting_for` `approval`. The rules of a parent hold for its children. */
            approvals?: {
                /**
                 * @description The tool's name in the conversation. Tools of MCP servers are called by `call_mcp_tool`.
                 * @enum {string}
                 */
                tool: "ask_user" | "call_mcp_tool" | "create_plan" | "create_pull_request" | "edit_files" | "get_mcp_prompt" | "glob" | "load_skill" | "message_agent" | "notify_user" | "read_command" | "read_files" | "read_mcp_resource" | "report_artifact" | "run_command" | "search_files" | "start_agent" | "stop_command" | "todo" | "wait_for_agents" | "web_fetch" | "write_command";
                /** @description A text in the command, or in the arguments as JSON of a tool without a command. `*` stands for any text, and line breaks and several spaces count as one space. Defaults to every call of the tool. At most 1024 bytes in UTF-8. */
                match?: string;
            }[];
            /** @description The author and committer of commits that set none, such as `Build Bot <bot@example.com>`. At most 512 bytes in UTF-8. Must be a name and an email address, such as Build Bot <bot@example.com>. */
            commit_author?: string;
            /** @description Additional instructions for the agent. At most 65536 bytes in UTF-8. */
            base_prompt?: string;
            /** @description The environment to set up before the agent starts. At most 512 bytes in UTF-8. */
            environment_id?: string;
            /** @description The skill to start from. Excludes `skills`. At most 512 bytes in UTF-8. Must have the form owner/repo:skill-name or owner/repo:path/to/SKILL.md. */
            skill_spec?: string;
            /** @description The skills to load, at most 20. Excludes `skill_spec`. */
            skills?: string[];
            /** @description The agent's MCP servers: a map from name to server, at most 50. */
            mcp_servers?: {
                [key: string]: {
                    /** @description The id of a shared server. This release reports such a server to the agent as unavailable. At most 512 bytes in UTF-8. */
                    warp_id?: string;
                    /** @description The program to start in the sandbox. At most 4096 bytes in UTF-8. */
                    command?: string;
                    /** @description The program's arguments, at most 64. */
                    args?: string[];
                    /** @description The program's environment variables. Values are secrets: responses show `***`. */
                    env?: {
                        [key: string]: string;
                    };
                    /** @description The URL of a remote server. Must be an http or https URL. */
                    url?: string;
                    /** @description The HTTP headers of each request to the server. Values are secrets: responses show `***`. */
                    headers?: {
                        [key: string]: string;
                    };
                    /** @description Whether the server is kept in the configuration without being started or connected to. Defaults to false. */
                    disabled?: boolean;
                    /** @description The server's tools that the agent may use: those of `include`, or all, without those of `exclude`. */
                    tools?: {
                        /** @description The tools to use, at most 100. Defaults to all. */
                        include?: string[];
                        /** @description The tools not to use, at most 100. */
                        exclude?: string[];
                    };
                };
            };
            /** @description The Git repositories to clone before the agent starts, at most 10. */
            repositories?: components["schemas"]["StoredRepository"][];
            /** @description Whether the agent may use a screen. Has no effect in this release. Defaults to false. */
            computer_use_enabled?: boolean;
            /** @description Minutes for which an interactive or interrupted run waits for a follow-up, 0 to 60. With 0, it ends with its turn. Defaults to 10. */
            idle_timeout_minutes?: number;
            /** @description The id of the self-hosted worker that executes the run. Defaults to `hosted`, a sandbox of the service. At most 512 bytes in UTF-8. */
            worker_host?: string;
            /** @description The limit of what the run and its descendants may spend on models, in US dollars. Defaults to the budget of the parent run. */
            budget_usd?: number;
            /** @description Minutes from the run's first start after which it ends FAILED with `budget_exceeded`, 1 to 10,080. A follow-up starts them again. Not limited by default. */
            timeout_minutes?: number;
            /** @description Model responses of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 10,000. A follow-up starts the count again. Not limited by default. */
            max_steps?: number;
            /** @description Tokens of input and output of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 1,000,000,000. A follow-up starts the count again. Not limited by default. */
            max_total_tokens?: number;
            /** @description The program that runs the agent. Responses omit it for the default harness. */
            harness?: {
                /**
                 * @description The harness to use. `oz` is an alias of `default`; `acp` is any agent that speaks the Agent Client Protocol: `agent` names one that comes with the sandbox, or `command` starts another.
                 * @enum {string}
                 */
                type: "default" | "oz" | "claude" | "codex" | "gemini" | "acp";
                /** @description The model of this harness. Defaults to the configuration's `model_id`. At most 512 bytes in UTF-8. */
                model_id?: string;
                /** @description The reasoning level, which precedes that of the configuration. Third-party harnesses have names of their own. */
                reasoning_level?: string;
                /** @description An agent of the type `acp` that comes with the sandbox, in a pinned version. */
                agent?: components["schemas"]["AcpAgentName"];
                /** @description The command that starts an agent of the type `acp` in the sandbox, for bash. It speaks over its standard streams. At most 4096 bytes in UTF-8. */
                command?: string;
            };
            /** @description The secrets with the API keys for the run's calls to Anthropic's and OpenAI's models, in place of the deployment's keys. The model gateway uses them; the run's sandbox does not get them. */
            harness_auth_secrets?: {
                /** @description The name of the secret with the API key for Anthropic's models. */
                claude_auth_secret_name?: string;
                /** @description The name of the secret with the API key for OpenAI's models. */
                codex_auth_secret_name?: string;
            };
            /** @description The secrets that commands get as environment variables, including those of the environment and the identity. */
            secrets?: {
                /** @description The secret's name. */
                name: string;
            }[];
            /** @description Whose credentials the run uses: its creator's or its executor's. Has no effect in this release. */
            credential_strategy?: ("CREATOR" | "EXECUTOR") | null;
            /** @description Public access to the run's session. Off by default. */
            session_sharing?: {
                /**
                 * @description The access of anyone with the link. `EDITOR` has the effect of `VIEWER` in this release.
                 * @enum {string}
                 */
                public_access?: "VIEWER" | "EDITOR";
            };
        };
        /**
         * @description The role of a person in a team.
         * @enum {string}
         */
        Role: "admin" | "member";
        /** @description A webhook with its new signing secret, which is shown only once. */
        RotateSecretResponse: {
            /** @description The webhook's id. */
            uid: string;
            /** @description A name for people. */
            name?: string;
            /** @description Where deliveries are sent. */
            url: string;
            /**
             * @description `slack` if messages for an incoming webhook of Slack are sent. Absent for events as JSON.
             * @constant
             */
            format?: "slack";
            /** @description The types of events that are delivered. */
            event_types: components["schemas"]["WebhookEventType"][];
            /** @description The runs whose events are delivered. Absent for all runs of the team. */
            filter?: components["schemas"]["WebhookFilter"];
            /** @description Whether events are delivered. A receiver that responds 410 disables the webhook. */
            enabled: boolean;
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the latest change.
             */
            updated_at: string;
            /** @description The person who created the webhook. */
            created_by: components["schemas"]["RunCreatorInfo"];
            /** @description The owner. */
            scope: {
                /**
                 * @description Always `Team`.
                 * @constant
                 */
                type: "Team";
                /** @description The team's id. */
                uid: string;
            };
            /**
             * Format: date-time
             * @description The time until which deliveries are signed with the previous secret as well. Absent unless the secret was replaced.
             */
            previous_secret_expires_at: string;
            /** @description The signing secret, returned once. */
            secret: string;
        };
        /** @description A new secret for a trigger. */
        RotateTriggerSecretRequest: {
            /** @description The secret, if the other system generates it. By default Runyard generates it. At most 512 bytes in UTF-8. */
            secret?: string;
        };
        /** @description A trigger with its new secret, which is shown only once. */
        RotatedTrigger: {
            /** @description The trigger's id. */
            uid: string;
            /** @description A name for people, which is the title of the runs. */
            name: string;
            /**
             * @description The system that sends the events. `webhook` stands for all others.
             * @enum {string}
             */
            kind: "github" | "gitlab" | "slack" | "webhook";
            /**
             * @description The system whose verification and prompt a trigger of the kind `webhook` has.
             * @enum {string}
             */
            preset?: "linear" | "jira" | "sentry" | "pagerduty";
            /** @description Whether events start runs. False while the trigger is paused. */
            enabled: boolean;
            /** @description Where the other system sends its events. */
            ingress_url: string;
            /** @description How requests to a trigger of the kind `webhook` are verified. Standard Webhooks by default. */
            verification?: components["schemas"]["TriggerVerification"];
            /** @description The template of the prompts, at most 8 KiB. A preset has one. */
            prompt: string;
            /** @description The types of events that start runs, such as `build` or `build.failed`. Absent for all. */
            events?: string[];
            /** @description The condition that events have to meet, an expression of the Common Expression Language over `event`. Absent or empty for none. */
            filter?: string;
            /** @description The expression that yields the thread of an event of the kind `webhook`, a string. An empty one is no thread. */
            thread_key?: string;
            /** @description The identity that executes the runs. Absent if the trigger's creator does. */
            agent_uid?: string;
            /** @description The configuration of the runs, before the defaults of the identity, the environment and the team. */
            agent_config?: components["schemas"]["ResolvedAgentConfig"];
            /** @description The most that each run with its children and follow-ups may spend on models, in US dollars. */
            budget_usd?: number;
            /** @description The mode of the runs. */
            mode: components["schemas"]["RunMode"];
            /** @description The template of the follow-ups that later events of a thread send. Defaults to `{{ event.text }}`. */
            followup_prompt?: string;
            /**
             * @description Whether later events of an issue, a pull request, a ticket or a conversation continue the first one's run (`continue`, the default), or start runs of their own (`separate`).
             * @enum {string}
             */
            threads?: "continue" | "separate";
            /**
             * @description What an event of a thread does while its run is active: its follow-up waits for the turn (`enqueue`, the default) or interrupts it, or the event is ignored (`skip`).
             * @enum {string}
             */
            busy?: "enqueue" | "interrupt" | "skip";
            /** @description Who may start runs besides people with write access. */
            allow?: components["schemas"]["TriggerAuthors"];
            /** @description The name of the secret with the token for the other system. */
            credential?: string;
            /** @description Whether runs reply to the events that start them. Absent where they do not. */
            reply?: components["schemas"]["TriggerReply"];
            /** @description The labels of the runs. */
            metadata?: components["schemas"]["Metadata"];
            /** @description What its runs may use their keys for. Absent where that is not limited. */
            scopes?: components["schemas"]["Scope"][];
            /** @description The owner. */
            scope: {
                /**
                 * @description `Team` for a team's trigger, `User` for a personal one.
                 * @enum {string}
                 */
                type: "Team" | "User";
                /** @description The id of the team or the person. */
                uid: string;
            };
            /** @description The person who created the trigger, and in whose name its runs are created. */
            created_by: components["schemas"]["RunCreatorInfo"];
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the latest change.
             */
            updated_at: string;
            /** @description The number of consecutive failed runs after which the trigger pauses itself. Absent if it never does. */
            pause_after_failures?: number;
            /** @description Why the trigger has paused itself: its runs failed, its identity was deleted, or its creator has left the team. The last two are also stored with a trigger that a person has paused. Absent for others, and after the trigger is resumed. */
            pause_reason?: string;
            /**
             * Format: date-time
             * @description The creation time of the first of the consecutive failed runs. Absent if the latest run that has ended did not fail.
             */
            failing_since?: string;
            /** @description The latest delivery. Absent if there is none. */
            last_delivery?: components["schemas"]["LastDelivery"];
            /** @description The deliveries of the last 24 hours by outcome, in the response to a GET of one trigger. */
            counts_24h?: components["schemas"]["DeliveryCounts"];
            /** @description Its latest runs, at most 10, newest first. In the response to a GET of one trigger. */
            recent_runs?: components["schemas"]["RecentRun"][];
            /** @description The secret, returned once. */
            secret: string;
            /**
             * Format: date-time
             * @description The time until which requests with the previous secret are accepted as well.
             */
            previous_secret_expires_at: string;
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description A new run. One of `prompt`, a skill and `conversation_id` is required. */
        RunAgentRequest: {
            /** @description The task of the run. Required unless the request has a skill or a `conversation_id`. At most 262144 bytes in UTF-8. */
            prompt?: string;
            /** @description The run's title, at most 512 characters. Defaults to the first line of the prompt. */
            title?: string;
            /** @description The configuration of the agent. */
            config?: components["schemas"]["AmbientAgentConfig"];
            /** @description The skill to start from. Overrides `config.skill_spec`. At most 512 bytes in UTF-8. Must have the form owner/repo:skill-name or owner/repo:path/to/SKILL.md. */
            skill?: string;
            /** @description Whether the team owns the run. Defaults to the owner of `conversation_id` if that is given, and otherwise to true if the caller has a team; agent keys cannot set it to false. */
            team?: boolean;
            /** @description The identity that executes the run. For team runs only. At most 512 bytes in UTF-8. */
            agent_identity_uid?: string;
            /** @description The conversation to continue. All of its runs have one owner. If its latest run has not ended, the response is 409. At most 512 bytes in UTF-8. */
            conversation_id?: string;
            /** @description The id of the parent run. The depth of a run tree is at most 10. At most 512 bytes in UTF-8. */
            parent_run_id?: string;
            /** @description At most 5 files. Inline files can have 2.9 MiB in total after decoding; upload larger ones with `POST /agent/attachments`. */
            attachments?: ({
                /** @description The file's name, without directories. At most 255 bytes in UTF-8. Must be a file name without directories. */
                file_name: string;
                /** @description The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain. */
                mime_type: string;
                /** @description The file's content in base64. */
                data: string;
            } | {
                /** @description The id of an uploaded attachment. At most 512 bytes in UTF-8. */
                attachment_id: string;
            })[];
            /** @description An older form of `attachments`, for images. */
            images?: {
                /** @description The file's content in base64. */
                data: string;
                /** @description The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain. */
                mime_type: string;
            }[];
            /** @description Whether the run waits for a follow-up after each turn, for `idle_timeout_minutes`. Defaults to false. */
            interactive?: boolean;
            /** @description `normal` (default) executes the task, `plan` only creates a plan, `orchestrate` delegates to child runs. */
            mode?: components["schemas"]["RunMode"];
            /** @description Labels to find the run by: at most 20 keys, with values of at most 256 bytes. */
            metadata?: components["schemas"]["Metadata"];
            /** @description The uid or email address of the member to act for. Requires an agent key whose identity has `on_behalf_of_enabled`. At most 512 bytes in UTF-8. */
            on_behalf_of?: string;
            /** @description `REMOTE` (default) executes the run in a sandbox of the service or on a worker; `LOCAL` leaves it to the caller. */
            execution_location?: components["schemas"]["ExecutionLocation"];
            /** @description Where each event that ends the run is sent, as webhooks get it; also its later ends, after follow-ups. Child runs do not inherit it, a run's key cannot set it, and no response shows it. At most 2048 bytes in UTF-8. Must be an https URL without credentials and fragment. */
            notify_url?: string;
        };
        /** @description A new run. */
        RunAgentResponse: {
            /** @description The run's id. */
            run_id: string;
            /** @description The same value as `run_id`, for older clients. */
            task_id: string;
            /** @description The run's current state; `QUEUED` for a new run. */
            state: components["schemas"]["RunState"];
            /** @description True if the run waits because its team has reached its `concurrency_limit`. */
            at_capacity?: boolean;
            /** @description The run's API key, returned once. Present for `LOCAL` runs only. */
            run_key?: string;
            /** @description The secret that signs what the run's `notify_url` receives. Only in the response that creates the run, and in its repeats. */
            notify_secret?: string;
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description A person or an identity. */
        RunCreatorInfo: {
            /**
             * @description `user` for a person, `service_account` for an identity.
             * @enum {string}
             */
            type: "user" | "service_account";
            /** @description The id of the person or identity. */
            uid: string;
            /** @description The display name. */
            display_name?: string;
            /** @description The person's email address. */
            email?: string;
            /** @description The URL of the person's picture. */
            photo_url?: string;
        };
        /** @description An entry of a run's event sequence: a timeline event, a notification or a batch of messages. */
        RunEvent: {
            /** @description The event's number within its run. Numbers start at 1 and have no gaps. */
            sequence: number;
            /**
             * @description The type of the event; `messages` is a batch of messages.
             * @enum {string}
             */
            type: "run_created" | "run_queued" | "run_pending" | "run_claimed" | "worker_container_ready" | "setup_environment_resolution" | "setup_repo_clone" | "setup_commands" | "setup_mcp_servers" | "setup_skill_loading" | "agent_started" | "network_blocked" | "followup_received" | "checkpoint_saved" | "execution_lost" | "run_succeeded" | "run_failed" | "run_errored" | "run_blocked" | "approval_requested" | "approved" | "denied" | "run_interrupted" | "run_idle" | "run_cancelled" | "run_stopped" | "artifact_created" | "branch_pushed" | "user_notified" | "run_waiting" | "setup_started" | "model_retry" | "model_called" | "messages";
            /**
             * Format: date-time
             * @description The time of the event.
             */
            occurred_at: string;
            /** @description The content of the event. Its shape depends on `type`. */
            data: {
                [key: string]: unknown;
            };
        };
        /** @description A part of a run's event sequence. */
        RunEvents: {
            /** @description The events, oldest first. */
            events: components["schemas"]["RunEvent"][];
            /** @description The value of `after` for the next request. */
            next: number;
            /** @description Whether the run has ended and no further events follow. */
            ended: boolean;
            /** @description Output that is still being produced, if the request asked for it. */
            live?: components["schemas"]["LiveFrame"][];
            /** @description Pass it as `live_after` to receive only newer live output. */
            live_next?: string;
            /** @description Where the run waits for capacity, if it does and the request asked for live output. */
            waiting?: {
                /** @description The position in the wait queue; 1 is the next run to start. */
                position: number;
            };
        };
        /** @description The filters of the list of runs as a JSON object, combined with AND. Unknown members are refused, since ignoring a misspelled filter would cancel more runs than intended. */
        RunFilter: {
            /** @description Selects runs in one of these states. */
            state?: components["schemas"]["RunState"][];
            /** @description Selects runs whose task has one of these statuses. `running`: the run or one of its descendants has not ended. The others match the state of the run itself: `failed` (`FAILED`, `ERROR`), `blocked`, `cancelled`, `complete` (`SUCCEEDED`). A run may match two. */
            task_status?: components["schemas"]["TaskStatus"][];
            /** @description Selects runs by the name of their configuration. At most 1024 bytes in UTF-8. */
            name?: string;
            /** @description Selects runs by model. At most 512 bytes in UTF-8. */
            model_id?: string;
            /** @description Selects runs by the uid of their creator. At most 512 bytes in UTF-8. */
            creator?: string;
            /** @description Selects runs by the uid of their executor. At most 512 bytes in UTF-8. */
            executor?: string;
            /** @description Selects runs from this source or one of these, each a RunSourceType. An unknown value selects no runs. */
            source?: string | string[];
            /** @description Selects runs by execution location. */
            execution_location?: components["schemas"]["ExecutionLocation"];
            /**
             * Format: date-time
             * @description Selects runs created after this time. RFC 3339 with an offset.
             */
            created_after?: string;
            /**
             * Format: date-time
             * @description Selects runs created before this time. RFC 3339 with an offset.
             */
            created_before?: string;
            /**
             * Format: date-time
             * @description Selects runs that changed after this time. RFC 3339 with an offset.
             */
            updated_after?: string;
            /** @description Selects runs by environment; `empty-environment` selects runs without one. At most 512 bytes in UTF-8. */
            environment_id?: string;
            /** @description An alias of `skill_spec`. At most 512 bytes in UTF-8. */
            skill?: string;
            /** @description Selects runs by skill: `owner/repo:name` or `owner/repo:path/to/SKILL.md`. At most 512 bytes in UTF-8. */
            skill_spec?: string;
            /** @description Selects runs by schedule, including deleted schedules. At most 512 bytes in UTF-8. */
            schedule_id?: string;
            /** @description Selects runs by the trigger that started them, including deleted triggers. At most 512 bytes in UTF-8. */
            trigger_id?: string;
            /** @description Selects runs by automation: the uid of a trigger, or the value of the metadata key `automation_id`. At most 512 bytes in UTF-8. */
            automation_id?: string;
            /** @description Selects the descendants of this run, which must exist and be visible. At most 512 bytes in UTF-8. */
            ancestor_run_id?: string;
            /** @description Selects runs with an artifact of this type. */
            artifact_type?: components["schemas"]["ArtifactType"];
            /**
             * @description Selects archived runs (`true`), runs that are not archived (`false`, the default), or `all`.
             * @enum {string}
             */
            archived?: "false" | "true" | "all";
            /** @description Selects runs that have cost at least this many US dollars by their models and sandboxes, without their child runs. */
            min_cost_usd?: number;
            /** @description Searches titles, prompts and skills. Ignores case, accents and word order, and allows for a typo in longer words. The id or the URL of a run finds that run. */
            q?: string;
            /** @description Selects runs by metadata; in a query, as `metadata[ticket]=SHOP-1412`. At most 5 keys. */
            metadata?: {
                [key: string]: string;
            };
        };
        /** @description A follow-up message for a run. */
        RunFollowupRequest: {
            /** @description The message to the agent. Optional with attachments, and if the run has ended, to continue where it stopped. At most 262144 bytes in UTF-8. */
            message?: string;
            /** @description Files for the agent: prepared and uploaded for this run, or by the caller with `POST /agent/attachments`. */
            attachments?: {
                /** @description The attachment's id. At most 512 bytes in UTF-8. */
                attachment_id: string;
                /** @description The file's name, without directories. At most 255 bytes in UTF-8. Must be a file name without directories. */
                file_name?: string;
            }[];
            /** @description The mode of the next execution. Ignored by an active run. Defaults to the run's mode. */
            mode?: components["schemas"]["RunMode"];
            /** @description `enqueue` (default) waits for the current turn, `interrupt` stops it, `reject` returns 409 unless the run has ended. */
            policy?: components["schemas"]["FollowupPolicy"];
            /** @description The `approval_id` of the call that the run waits for: carries out exactly this call, once. Needs a person's key or session. Excludes `deny`. At most 512 bytes in UTF-8. */
            approve?: string;
            /** @description The `approval_id` of the call that the run waits for: the agent learns who denied it, with `message` as the reason. Needs a person's key or session. At most 512 bytes in UTF-8. */
            deny?: string;
        };
        /** @description A stored follow-up. */
        RunFollowupResponse: {
            /** @description The follow-up's id within its run. */
            followup_id: string;
            /** @description The run's id. */
            run_id: string;
            /** @description How the follow-up reaches the agent. */
            outcome: components["schemas"]["FollowupOutcome"];
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description A run as responses show it. */
        RunItem: {
            /** @description The run's id. */
            run_id: string;
            /** @description The same value as `run_id`, for older clients. */
            task_id: string;
            /** @description The root of the run's tree: the run itself, unless it is a child run. */
            root_run_id: string;
            /** @description The run's title. */
            title: string;
            /** @description The run's current state. */
            state: components["schemas"]["RunState"];
            /** @description The task of the run. Lists truncate it to 1,000 characters. */
            prompt: string;
            /** @description The prompt, with the follow-ups that were sent before the run started, separated by blank lines. Lists truncate it to 1,000 characters. */
            submitted_prompt?: string;
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the latest change of the state, the follow-ups or the artifacts.
             */
            updated_at: string;
            /** @description The start time. Null before the run has started. */
            started_at?: string | null;
            /** @description The end time. Null before the run has ended. */
            finished_at?: string | null;
            /** @description The reason for the run's final state. For `BLOCKED`, the agent's question. For `CANCELLED`, who cancelled the run. */
            status_message?: components["schemas"]["RunStatusMessage"];
            /** @description What a `BLOCKED` run waits for: the `answer` to the agent's question, an `approval`, or any `followup`. */
            waiting_for?: components["schemas"]["WaitingFor"];
            /** @description The call that the run waits for, if `waiting_for` is `approval`. */
            approval?: components["schemas"]["Approval"];
            /** @description The source of the run. */
            source?: components["schemas"]["RunSourceType"];
            /** @description Where the run is executed: `REMOTE` in a sandbox of the service or on a worker, `LOCAL` by its caller. */
            execution_location?: components["schemas"]["ExecutionLocation"];
            /** @description The schedule that created the run. Absent for other runs. */
            schedule?: components["schemas"]["RunSchedule"];
            /** @description The id of the run's session. */
            session_id?: string;
            /** @description The URL of the run's page in the web app. Absent if the deployment has no web app. */
            session_link?: string;
            /** @description The URL of the event that triggered the run. Set by integrations. */
            trigger_url?: string;
            /** @description The person or identity that created the run. */
            creator?: components["schemas"]["RunCreatorInfo"];
            /** @description The person or identity that the run acts as. */
            executor?: components["schemas"]["RunCreatorInfo"];
            /** @description The run's usage so far. */
            request_usage?: components["schemas"]["RequestUsage"];
            /** @description The resolved configuration, with all defaults applied. */
            agent_config?: components["schemas"]["ResolvedAgentConfig"];
            /** @description The skill that the run started from. */
            agent_skill?: {
                /** @description The skill's name. */
                name?: string;
                /** @description The skill's description of itself. */
                description?: string;
                /** @description The path of the skill's file in its repository. */
                full_path?: string;
                /** @description The skill's id, if the service provides it. */
                bundled_skill_id?: string;
            };
            /** @description The conversation's id. */
            conversation_id?: string;
            /** @description The id of the parent run. Absent for the root of a run tree. */
            parent_run_id?: string;
            /** @description Whether a sandbox is executing the run. */
            is_sandbox_running?: boolean;
            /** @description Whether the run can be cancelled without `force`. False for runs of self-hosted workers and `LOCAL` runs. */
            is_run_type_cancellable?: boolean;
            /** @description The total execution time, as an ISO 8601 duration. */
            run_time?: string;
            /** @description The run's labels. */
            metadata?: components["schemas"]["Metadata"];
            /** @description The run's artifacts, oldest first. */
            artifacts?: components["schemas"]["ArtifactItem"][];
            /** @description Whether the list of runs leaves the run out unless the filter `archived` asks for it. */
            archived?: boolean;
            /** @description The secret that signs what the run's `notify_url` receives. Only in the response that creates the run, and in its repeats. */
            notify_secret?: string;
            /** @description The number of follow-ups that the agent has not stored yet. */
            pending_followups?: number;
            /** @description The owner. */
            scope?: {
                /**
                 * @description `Team` for a team's resource, `User` for a personal one.
                 * @enum {string}
                 */
                type: "User" | "Team";
                /** @description The id of the team or the person. */
                uid?: string;
            };
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /**
         * @description The mode of a run: `normal` executes the task, `plan` only creates a plan, `orchestrate` delegates to child runs.
         * @enum {string}
         */
        RunMode: "normal" | "plan" | "orchestrate";
        /** @description The schedule that created a run, as it was at that time. */
        RunSchedule: {
            /** @description The schedule's id. */
            schedule_id: string;
            /** @description The schedule's name at the time of the firing. */
            schedule_name: string;
            /** @description A cron expression with five fields, or a nickname such as `@daily`. */
            cron_schedule: string;
        };
        /** @description The setup snapshot of the run's environment, for the harness. */
        RunSetup: {
            /** @description A digest of everything that the setup depends on, except the commits of repositories and the machine. */
            inputs: string;
            /**
             * @description True if the run only sets up the environment: the harness saves a setup snapshot.
             * @constant
             */
            keep?: true;
            /** @description The latest snapshot. Absent if there is none. */
            made?: {
                /** @description The run that made it. */
                run_id: string;
                /**
                 * Format: date-time
                 * @description The time of creation.
                 */
                created_at: string;
                /** @description The machine on which it was made, as a digest. */
                platform: string;
                /** @description The clones. */
                clones: components["schemas"]["SnapshotClone"][];
                /** @description The files. Absent if the inputs of the snapshot differ from `inputs`. */
                files?: components["schemas"]["SavedFile"][];
            };
        };
        /**
         * @description The source of a run.
         * @enum {string}
         */
        RunSourceType: "API" | "CLI" | "LOCAL" | "SCHEDULED_AGENT" | "WEB_APP" | "GITHUB_ACTION" | "SLACK" | "LINEAR" | "CLOUD_MODE" | "JIRA" | "TEAMS" | "MCP" | "GITHUB_WEBHOOK" | "GITLAB_WEBHOOK" | "AZURE_DEVOPS_WEBHOOK" | "CUSTOM_WEBHOOK" | "ORCHESTRATION";
        /**
         * @description The state of a run. `SUCCEEDED`, `FAILED`, `ERROR`, `BLOCKED` and `CANCELLED` are final until a follow-up.
         * @enum {string}
         */
        RunState: "QUEUED" | "PENDING" | "CLAIMED" | "INPROGRESS" | "SUCCEEDED" | "FAILED" | "ERROR" | "BLOCKED" | "CANCELLED";
        /** @description The reason for a run's final state. */
        RunStatusMessage: {
            /** @description One sentence of at most 1,024 characters, without secrets. */
            message: string;
            /** @description The error code, if the run failed. */
            error_code?: string;
            /** @description Whether the same run may succeed later. */
            retryable?: boolean;
        };
        /** @description A file of a snapshot, for the harness. */
        SavedFile: {
            /** @description The file's name. */
            filename: string;
            /**
             * Format: uri
             * @description A time-limited URL of the file. Do not send credentials to it.
             */
            download_url: string;
            /** @description The file's media type. */
            mime_type: string;
            /** @description The file's size in bytes. */
            size_bytes: number;
        };
        /** @description A schedule as responses show it. */
        ScheduleItem: {
            /** @description The schedule's id. */
            id: string;
            /** @description The schedule's name. */
            name: string;
            /** @description A cron expression with five fields, or a nickname such as `@daily`. */
            cron_schedule: string;
            /** @description The IANA time zone of the cron expression. */
            time_zone: string;
            /** @description What to do if an earlier run is still active: `allow`, `skip` the firing, or `cancel_previous`. */
            overlap: components["schemas"]["Overlap"];
            /** @description Whether the schedule fires. False while it is paused. */
            enabled: boolean;
            /** @description The task of each run. */
            prompt: string;
            /** @description The mode of each run. */
            mode: components["schemas"]["RunMode"];
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the latest change.
             */
            updated_at: string;
            /** @description The configuration of each run, before the defaults of the identity, the environment and the team. */
            agent_config?: components["schemas"]["ResolvedAgentConfig"];
            /** @description The environment that `agent_config` names. */
            environment?: components["schemas"]["EnvironmentConfig"];
            /** @description The identity that executes the runs. */
            agent_uid?: string;
            /** @description The person or identity that created the schedule. */
            created_by?: components["schemas"]["RunCreatorInfo"];
            /** @description The person or identity that changed the schedule last. */
            updated_by?: components["schemas"]["RunCreatorInfo"];
            /** @description The number of consecutive failed runs after which the schedule pauses itself. Absent if it never does. */
            pause_after_failures?: number;
            /**
             * Format: date-time
             * @description The creation time of the first of the consecutive failed runs. Absent if the latest run that has ended did not fail.
             */
            failing_since?: string;
            /** @description Why the latest firing created no run. Null if it succeeded. */
            last_spawn_error: string | null;
            /** @description Why the token of one of the runs' secrets can no longer be renewed, and what to do. Absent if there is no problem, and in lists. */
            secret_error?: string;
            /** @description Why there is no model for the runs at the moment, so that none is created. Absent if there is one. */
            model_error?: string;
            /** @description The latest and the next firing. */
            history: {
                /** @description The time of the latest firing. Null before the first. */
                last_ran: string | null;
                /** @description The time of the next firing. Null while the schedule is paused. */
                next_run: string | null;
            };
            /** @description The latest runs, at most 10, newest first. Present for a single schedule only. */
            recent_runs?: components["schemas"]["RecentRun"][];
            /** @description The owner. */
            scope?: {
                /**
                 * @description `Team` for a team's resource, `User` for a personal one.
                 * @enum {string}
                 */
                type: "User" | "Team";
                /** @description The id of the team or the person. */
                uid?: string;
            };
            /** @description The labels of each run. */
            metadata?: components["schemas"]["Metadata"];
            /** @description What the runs may use their keys for: at most the scopes of the keys that created and changed the schedule. Absent if that is not limited. */
            scopes?: components["schemas"]["Scope"][];
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /**
         * @description What a key may be used for. A route needs exactly one scope: `x-scope` of its operation.
         * @enum {string}
         */
        Scope: "runs:read" | "runs:write" | "schedules:read" | "schedules:write" | "environments:read" | "environments:write" | "identities:read" | "identities:write" | "triggers:read" | "triggers:write" | "webhooks:read" | "webhooks:write" | "teams:read" | "teams:write" | "usage:read" | "models:read" | "keys" | "secrets" | "audit" | "workers";
        /** @description A secret without its value. */
        SecretItem: {
            /** @description The name that configurations refer to. */
            name: string;
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /** @description The owner. */
            scope: {
                /**
                 * @description Always `Team`.
                 * @constant
                 */
                type: "Team";
                /** @description The team's id. */
                uid: string;
            };
            /** @description How the value is renewed. Absent if it is not renewed. */
            renewal?: {
                /** @description The URL of the server that accepts the token. */
                server_url: string;
                /** @description The URL that issues new tokens. */
                token_endpoint: string;
                /**
                 * Format: date-time
                 * @description The time of the latest renewal, or of the sign-in.
                 */
                renewed_at: string;
                /**
                 * Format: date-time
                 * @description When the value expires. Absent if unknown.
                 */
                expires_at?: string;
                /** @description Why the value can no longer be renewed, and what to do. Absent if it can. */
                refusal?: string;
            };
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description The caller, and when the caller's session or API key ends. */
        SessionInfo: {
            /** @description The person who is signed in. */
            user: {
                /** @description The person's id. */
                uid: string;
                /** @description The display name. */
                display_name: string;
                /** @description The person's email address. */
                email: string;
            };
            /** @description The teams that the person is in. */
            teams: components["schemas"]["Membership"][];
            /**
             * Format: date-time
             * @description The time at which the session ends unless it is used again; for an API key, its expiry time. Absent for a key that does not expire.
             */
            expires_at?: string;
        };
        /** @description The conversation of a public session. */
        SessionRedirect: {
            /** @description The conversation's id. */
            conversation_id?: string;
        };
        /** @description What a setup snapshot was made of. */
        SetupReport: {
            /** @description The digest of its inputs that `resolve-prompt` returned. Must have 64 lowercase hexadecimal digits. */
            inputs: string;
            /** @description A digest of the machine as commands see it. Must have 64 lowercase hexadecimal digits. */
            platform: string;
            /** @description The clones, at most 10. */
            clones: components["schemas"]["SnapshotClone"][];
        };
        /** @description Whom to share an environment with: a person, or anyone with the link. Exactly one is required. Must have exactly one of user_uid and link. */
        ShareRequest: {
            /** @description The id of the person to share with. Excludes `link`. At most 512 bytes in UTF-8. */
            user_uid?: string;
            /**
             * @description Always true: share by link. Excludes `user_uid`.
             * @constant
             */
            link?: true;
        };
        /** @description The result of sharing an environment. */
        ShareResponse: {
            /** @description The URL that shows the environment, returned once. Absent when sharing with a person. */
            link?: string;
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description Who may see a run besides its owner. Null: nobody. */
        ShareRunRequest: {
            /** @description The access of anyone with the link. Null: nobody but the run's owner sees it. */
            public_access: "VIEWER" | null;
        };
        /** @description The link of the public view. Absent where the run is not shared, or the deployment has no web app. */
        ShareRunResponse: {
            /** @description The URL of the run's public view. Absent if the run is not shared, or the deployment has no web app. */
            session_link?: string;
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description A link that signs its reader in once. */
        SignInLink: {
            /** @description The one-time token for `POST /session`. */
            token: string;
            /** @description The page of the web app that signs in with the token. Absent where the deployment has no web app. */
            url?: string;
            /**
             * Format: date-time
             * @description The expiry time of the link.
             */
            expires_at: string;
        };
        /** @description How people sign in, besides API keys and links. */
        SignInMethods: {
            /** @description The OIDC issuer by which people sign in. Absent where the deployment has none. */
            oidc?: {
                /** @description The address of the issuer. */
                issuer: string;
                /** @description The issuer's page to sign in. The client adds `state`, `nonce` and `code_challenge`. */
                authorization_url: string;
            };
        };
        /** @description A token for `POST /session`. */
        SignInToken: {
            /** @description The one-time token for `POST /session`. */
            token: string;
            /**
             * Format: date-time
             * @description The expiry time, a minute after creation.
             */
            expires_at: string;
        };
        /** @description A clone in a setup snapshot. */
        SnapshotClone: {
            /** @description Its directory in the workspace. At most 1024 bytes in UTF-8. */
            path: string;
            /** @description The commit that is checked out; empty for a repository without commits. Must be the id of a commit, or empty. */
            commit: string;
        };
        /** @description A turn of a conversation. Delegated work has turns of its own. */
        Step: {
            /** @description The turn's id. */
            id: string;
            /** @description The task of the turn. */
            description?: string;
            /** @description The result in one or two sentences. */
            summary?: string;
            /**
             * Format: date-time
             * @description The start time of the turn.
             */
            started_at?: string;
            /**
             * Format: date-time
             * @description The end time. Absent until the turn has ended.
             */
            completed_at?: string;
            /** @description The messages, in order. */
            messages: components["schemas"]["Message"][];
            /** @description The turns of delegated work. */
            steps: components["schemas"]["Step"][];
        };
        /** @description The network of an environment that limits it. */
        StoredNetwork: {
            /**
             * @description `open` (everything), `allowlist` (the `domains`) or `none`.
             * @enum {string}
             */
            mode: "open" | "allowlist" | "none";
            /** @description The domains of the mode `allowlist`. */
            domains?: string[];
        };
        /** @description The same as it is stored. */
        StoredOutputSchema: {
            [key: string]: unknown;
        };
        /** @description A Git repository as responses show it. */
        StoredRepository: {
            /** @description The URL to clone. Credentials are shown as `***`. At most 2048 bytes in UTF-8. Must be an https, ssh or file URL. */
            url: string;
            /** @description The branch, tag or commit to check out. Defaults to the repository's default branch. At most 256 bytes in UTF-8. Must be a branch, tag or commit. */
            ref?: string;
            /** @description The directory in the workspace. Defaults to the last segment of the URL. At most 256 bytes in UTF-8. Must be a relative path inside the workspace. */
            path?: string;
            /** @description The name of the secret that contains the access token for an https URL. */
            token_secret?: string;
            /** @description The number of commits to clone. Defaults to the whole history. */
            depth?: number;
            /** @description Whether to clone submodules: those of the same owner, and those that `repositories` name. Defaults to false. */
            submodules?: boolean;
            /** @description Whether to download the files in Git LFS. Defaults to false, which leaves their pointers. */
            lfs?: boolean;
            /** @description The directories to check out, at most 50, besides the files at the top. Defaults to the whole repository. */
            sparse_paths?: string[];
        };
        /**
         * @description The status of a task. `running`: the run or one of its descendants has not ended. The others are of the run itself: `failed` (`FAILED`, `ERROR`), `blocked`, `cancelled`, `complete` (`SUCCEEDED`). A run may have two.
         * @enum {string}
         */
        TaskStatus: "running" | "failed" | "blocked" | "cancelled" | "complete";
        /** @description A team with its current month. */
        TeamDetail: {
            /** @description The team's id. */
            uid: string;
            /** @description The team's name. */
            name: string;
            /** @description The team's limits and defaults. */
            settings: components["schemas"]["TeamSettings"];
            /** @description The cost of the team's model calls in the current calendar month (UTC). */
            month: components["schemas"]["MonthlySpending"];
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description A team as responses show it. */
        TeamItem: {
            /** @description The team's id. */
            uid: string;
            /** @description The team's name. */
            name: string;
            /** @description The team's limits and defaults. */
            settings: components["schemas"]["TeamSettings"];
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description An API key of an identity of the team. */
        TeamKey: {
            /** @description The key's id. */
            uid: string;
            /** @description The key's name. */
            name: string;
            /** @description The identity that the key belongs to. */
            identity_uid: string;
        };
        /** @description The settings of a team, with all defaults applied. Null: neither a value nor a default. */
        TeamSettings: {
            /** @description The number of available identities, 1 to 500. Defaults to 20. */
            identity_limit: number;
            /** @description The number of runs that execute at the same time, 1 to 10,000. Defaults to 20. */
            concurrency_limit: number;
            /** @description The number of runs that wait for capacity, 1 to 100,000. Defaults to 1,000. */
            queue_limit: number;
            /** @description The model of runs that set none. */
            default_model_id: string | null;
            /** @description The environment of runs that set none. */
            default_environment_id: string | null;
            /** @description The author of commits of runs that set none, such as `Build Bot <bot@example.com>`. Null: that of the deployment. */
            commit_author: string | null;
            /** @description The maximum cost of the team's model calls in a calendar month (UTC), in US dollars. Null: not limited. */
            budget_usd_month: number | null;
            /** @description The days after which ended runs are deleted, with all their files, 1 to 3,650. Null: they are kept. */
            retention_days: number | null;
            /** @description Whether runs of the team can be shared with everybody who has their link. If not, runs that were shared before are not public either. */
            sharing_allowed: boolean;
            /** @description By the name of a provider, the team's secret with the API key for the team's calls to it, in place of the deployment's key. An empty object: none. */
            provider_keys: {
                [key: string]: string;
            };
        };
        /** @description An event that a trigger is tested with. */
        TestTriggerRequest: {
            /** @description The headers of the request, from which the type of the event is read. */
            headers?: {
                [key: string]: string;
            };
            /** @description The JSON object of the event. */
            payload: {
                [key: string]: unknown;
            };
            /** @description A template to test instead of the trigger's. At most 8192 bytes in UTF-8. */
            prompt?: string;
        };
        /** @description What an event would result in. Nothing is created. */
        TestTriggerResponse: {
            /**
             * @description What the event would result in.
             * @enum {string}
             */
            outcome: "started" | "followed_up" | "ignored" | "failed";
            /**
             * @description Why it would be ignored.
             * @enum {string}
             */
            reason?: "event" | "own" | "paused" | "author" | "filter" | "busy";
            /** @description Details, such as the filter's error, why no run could be created, or what a pressed button would do. */
            detail?: string;
            /** @description The run that a pressed button would answer or stop. Absent for other events. */
            run_id?: string;
            /** @description The event as templates see it. */
            event: components["schemas"]["TriggerEvent"];
            /** @description The template with the values of the event. */
            prompt: string;
            /** @description The values of the template that the event does not have. */
            missing_values?: string[];
            /** @description The run that would be created with the prompt. */
            run_request?: {
                /** @description The title of the run. */
                title: string;
                /** @description The mode of the run. */
                mode: components["schemas"]["RunMode"];
                /** @description The labels of the run. */
                metadata?: components["schemas"]["Metadata"];
                /** @description The configuration of the run. */
                config: components["schemas"]["ResolvedAgentConfig"];
            };
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /**
         * @description The outcome of a planned firing: a run was created (`fired`), the firing was skipped, it came too late, or it failed.
         * @enum {string}
         */
        TickOutcome: "fired" | "skipped" | "late" | "failed";
        /** @description A page of a run's timeline. */
        Timeline: {
            /** @description The events, oldest first. */
            events: components["schemas"]["TimelineEvent"][];
            /** @description The position of the page in the list. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description An event in the timeline of a run. */
        TimelineEvent: {
            /** @description The event's id. */
            event_uuid: string;
            /** @description The run's id. */
            run_id: string;
            /** @description The type of the event. */
            event_type: components["schemas"]["TimelineType"];
            /**
             * Format: date-time
             * @description The time of the event.
             */
            occurred_at: string;
            /** @description The id of the execution, one attempt to execute the run. */
            execution_id?: string;
            /** @description Details of the event, such as `duration_ms` and `is_error`. */
            payload?: {
                [key: string]: unknown;
            };
        };
        /**
         * @description The type of a timeline event.
         * @enum {string}
         */
        TimelineType: "run_created" | "run_queued" | "run_pending" | "run_claimed" | "worker_container_ready" | "setup_environment_resolution" | "setup_repo_clone" | "setup_commands" | "setup_mcp_servers" | "setup_skill_loading" | "agent_started" | "network_blocked" | "followup_received" | "checkpoint_saved" | "execution_lost" | "run_succeeded" | "run_failed" | "run_errored" | "run_blocked" | "approval_requested" | "approved" | "denied" | "run_interrupted" | "run_idle" | "run_cancelled" | "run_stopped" | "artifact_created" | "branch_pushed";
        /** @description An OIDC token to exchange for an API key. */
        TokenRequest: {
            /** @description The OIDC token, a signed JWT. At most 16384 bytes in UTF-8. */
            token: string;
            /** @description The identity that the key is for. Required if the token matches rules of several identities. */
            identity_uid?: string | null;
        };
        /** @description An API key that expires. */
        TokenResponse: {
            /** @description The API key, returned once. */
            key: string;
            /**
             * Format: date-time
             * @description The expiry time of the key.
             */
            expires_at: string;
        };
        /** @description The transcript to upload. With `size_bytes` and `sha256`, the upload must match both; otherwise it can have up to 64 MiB. */
        TranscriptRequest: {
            /** @description The conversation's id. At most 512 bytes in UTF-8. */
            conversation_id: string;
            /** @description The file's size in bytes. */
            size_bytes?: number;
            /** @description The SHA-256 digest of the file. Must have 64 lowercase hexadecimal digits. */
            sha256?: string;
        };
        /** @description Who may start runs besides people with write access. */
        TriggerAuthors: {
            /** @description Names of accounts of bots and applications. */
            bots?: string[];
            /** @description Whether every person may, whatever their rights. */
            anyone?: boolean;
        };
        /** @description A delivery to a trigger as responses show it. */
        TriggerDelivery: {
            /** @description The delivery's id. */
            delivery_id: string;
            /** @description The id that the sender has for the event. */
            external_id?: string;
            /** @description The type of the event. */
            event_type: string;
            /** @description The action of the event. */
            action?: string;
            /**
             * Format: date-time
             * @description The time of the request.
             */
            received_at: string;
            /** @description The number of decisions: more than one after a temporary failure. */
            attempts: number;
            /** @description What the delivery resulted in. Absent until the event is decided on. */
            outcome?: components["schemas"]["TriggerOutcome"];
            /** @description True after a temporary failure, which `detail` names: the event is decided on again, for 24 hours. */
            will_retry?: boolean;
            /**
             * @description Why it was ignored: the type of the event, its author, the filter, a paused trigger, an active run of its thread, or that a reply of a run caused it.
             * @enum {string}
             */
            reason?: "event" | "own" | "paused" | "author" | "filter" | "busy";
            /** @description Details of `reason`, such as the error of the filter, or why the event could not be decided on. */
            detail?: string;
            /** @description The id of the run that it started or continued. */
            run_id?: string;
            /** @description The id of the follow-up that it sent to the run `run_id`. */
            followup_id?: string;
            /** @description The id of the delivery whose event it delivers again on request. */
            redelivery_of?: string;
            /** @description The id of the delivery that it repeats. */
            of?: string;
            /** @description The values of the template that the event does not have. */
            missing_values?: string[];
        };
        /** @description A delivery to a trigger with its payload. */
        TriggerDeliveryDetails: {
            /** @description The delivery's id. */
            delivery_id: string;
            /** @description The id that the sender has for the event. */
            external_id?: string;
            /** @description The type of the event. */
            event_type: string;
            /** @description The action of the event. */
            action?: string;
            /**
             * Format: date-time
             * @description The time of the request.
             */
            received_at: string;
            /** @description The number of decisions: more than one after a temporary failure. */
            attempts: number;
            /** @description What the delivery resulted in. Absent until the event is decided on. */
            outcome?: components["schemas"]["TriggerOutcome"];
            /** @description True after a temporary failure, which `detail` names: the event is decided on again, for 24 hours. */
            will_retry?: boolean;
            /**
             * @description Why it was ignored: the type of the event, its author, the filter, a paused trigger, an active run of its thread, or that a reply of a run caused it.
             * @enum {string}
             */
            reason?: "event" | "own" | "paused" | "author" | "filter" | "busy";
            /** @description Details of `reason`, such as the error of the filter, or why the event could not be decided on. */
            detail?: string;
            /** @description The id of the run that it started or continued. */
            run_id?: string;
            /** @description The id of the follow-up that it sent to the run `run_id`. */
            followup_id?: string;
            /** @description The id of the delivery whose event it delivers again on request. */
            redelivery_of?: string;
            /** @description The id of the delivery that it repeats. */
            of?: string;
            /** @description The values of the template that the event does not have. */
            missing_values?: string[];
            /** @description The JSON object of the event. Absent if it has more than 3.5 MB, or was received before this was stored. */
            payload?: {
                [key: string]: unknown;
            };
        };
        /** @description An event of another system as templates see it. Strings are "" where the event has none. */
        TriggerEvent: {
            /** @description The type of the event. */
            type: string;
            /** @description The action of the event, empty if it has none. */
            action: string;
            /** @description What was written, such as a comment. Empty if there is none. */
            text: string;
            /** @description Who caused the event, which need not be the author of the text. */
            author: components["schemas"]["EventAuthor"];
            /** @description The repository, as `owner/name`. */
            repository: string;
            /** @description Equal for the events of one issue, pull request, ticket or conversation. */
            thread: string;
            /** @description The JSON object of the event. */
            payload: {
                [key: string]: unknown;
            };
        };
        /** @description A trigger as responses show it. */
        TriggerItem: {
            /** @description The trigger's id. */
            uid: string;
            /** @description A name for people, which is the title of the runs. */
            name: string;
            /**
             * @description The system that sends the events. `webhook` stands for all others.
             * @enum {string}
             */
            kind: "github" | "gitlab" | "slack" | "webhook";
            /**
             * @description The system whose verification and prompt a trigger of the kind `webhook` has.
             * @enum {string}
             */
            preset?: "linear" | "jira" | "sentry" | "pagerduty";
            /** @description Whether events start runs. False while the trigger is paused. */
            enabled: boolean;
            /** @description Where the other system sends its events. */
            ingress_url: string;
            /** @description How requests to a trigger of the kind `webhook` are verified. Standard Webhooks by default. */
            verification?: components["schemas"]["TriggerVerification"];
            /** @description The template of the prompts, at most 8 KiB. A preset has one. */
            prompt: string;
            /** @description The types of events that start runs, such as `build` or `build.failed`. Absent for all. */
            events?: string[];
            /** @description The condition that events have to meet, an expression of the Common Expression Language over `event`. Absent or empty for none. */
            filter?: string;
            /** @description The expression that yields the thread of an event of the kind `webhook`, a string. An empty one is no thread. */
            thread_key?: string;
            /** @description The identity that executes the runs. Absent if the trigger's creator does. */
            agent_uid?: string;
            /** @description The configuration of the runs, before the defaults of the identity, the environment and the team. */
            agent_config?: components["schemas"]["ResolvedAgentConfig"];
            /** @description The most that each run with its children and follow-ups may spend on models, in US dollars. */
            budget_usd?: number;
            /** @description The mode of the runs. */
            mode: components["schemas"]["RunMode"];
            /** @description The template of the follow-ups that later events of a thread send. Defaults to `{{ event.text }}`. */
            followup_prompt?: string;
            /**
             * @description Whether later events of an issue, a pull request, a ticket or a conversation continue the first one's run (`continue`, the default), or start runs of their own (`separate`).
             * @enum {string}
             */
            threads?: "continue" | "separate";
            /**
             * @description What an event of a thread does while its run is active: its follow-up waits for the turn (`enqueue`, the default) or interrupts it, or the event is ignored (`skip`).
             * @enum {string}
             */
            busy?: "enqueue" | "interrupt" | "skip";
            /** @description Who may start runs besides people with write access. */
            allow?: components["schemas"]["TriggerAuthors"];
            /** @description The name of the secret with the token for the other system. */
            credential?: string;
            /** @description Whether runs reply to the events that start them. Absent where they do not. */
            reply?: components["schemas"]["TriggerReply"];
            /** @description The labels of the runs. */
            metadata?: components["schemas"]["Metadata"];
            /** @description What its runs may use their keys for. Absent where that is not limited. */
            scopes?: components["schemas"]["Scope"][];
            /** @description The owner. */
            scope: {
                /**
                 * @description `Team` for a team's trigger, `User` for a personal one.
                 * @enum {string}
                 */
                type: "Team" | "User";
                /** @description The id of the team or the person. */
                uid: string;
            };
            /** @description The person who created the trigger, and in whose name its runs are created. */
            created_by: components["schemas"]["RunCreatorInfo"];
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the latest change.
             */
            updated_at: string;
            /** @description The number of consecutive failed runs after which the trigger pauses itself. Absent if it never does. */
            pause_after_failures?: number;
            /** @description Why the trigger has paused itself: its runs failed, its identity was deleted, or its creator has left the team. The last two are also stored with a trigger that a person has paused. Absent for others, and after the trigger is resumed. */
            pause_reason?: string;
            /**
             * Format: date-time
             * @description The creation time of the first of the consecutive failed runs. Absent if the latest run that has ended did not fail.
             */
            failing_since?: string;
            /** @description The latest delivery. Absent if there is none. */
            last_delivery?: components["schemas"]["LastDelivery"];
            /** @description The deliveries of the last 24 hours by outcome, in the response to a GET of one trigger. */
            counts_24h?: components["schemas"]["DeliveryCounts"];
            /** @description Its latest runs, at most 10, newest first. In the response to a GET of one trigger. */
            recent_runs?: components["schemas"]["RecentRun"][];
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /**
         * @description What a delivery to a trigger resulted in.
         * @enum {string}
         */
        TriggerOutcome: "started" | "followed_up" | "ignored" | "duplicate" | "failed";
        /** @description How the other system learns the state and the result of a run. */
        TriggerReply: {
            /**
             * @description `thread`: a comment in the thread of the event, which is updated in place. It needs a `credential`.
             * @enum {string}
             */
            to: "thread" | "none";
            /** @description What the comment shows besides the result. Both by default in private repositories and projects and on Slack, otherwise nothing. */
            show?: ("cost" | "link")[];
        };
        /** @description How the requests of the other system prove who sent them. */
        TriggerVerification: {
            /**
             * @description `standard` are Standard Webhooks, `hmac` is an HMAC-SHA256 of the body, `bearer` is the secret itself.
             * @enum {string}
             */
            scheme: "standard" | "hmac" | "bearer";
            /** @description The header with the signature. Required by `hmac`. At most 128 bytes in UTF-8. Must be the name of a header. Must be a header of its own. */
            header?: string;
            /** @description What precedes the signature in its header, such as `sha256=`. At most 32 bytes in UTF-8. */
            prefix?: string;
            /**
             * @description The encoding of the signature. Defaults to `hex`.
             * @enum {string}
             */
            encoding?: "hex" | "base64";
            /** @description The header with the time, in seconds, that is signed together with the body. At most 128 bytes in UTF-8. Must be the name of a header. Must be a header of its own. */
            timestamp_header?: string;
        };
        /** @description A rule by which OIDC tokens are exchanged for API keys of an identity. */
        TrustRuleItem: {
            /** @description The trust rule's id. */
            uid: string;
            /** @description The identity that the keys are for. */
            identity_uid: string;
            /** @description The issuer of the tokens. */
            issuer: string;
            /** @description A value of the `aud` claim of the tokens. */
            audience: string;
            /** @description The `sub` claim of the tokens. Each `*` stands for any text. */
            subject_pattern: string;
            /** @description The maximum budget of each run that a key of the rule creates. */
            max_budget_usd?: number;
            /** @description Seconds for which the keys are valid. */
            ttl_seconds: number;
            /** @description What the keys may be used for. */
            scopes: components["schemas"]["Scope"][];
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the latest change.
             */
            updated_at: string;
            /** @description The person who last saved the rule. It works as long as they are a member of the team. */
            saved_by: components["schemas"]["RunCreatorInfo"];
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description A new trust rule, or all members of an existing one. */
        TrustRuleRequest: {
            /** @description The issuer of the tokens, exactly as in their `iss` claim. At most 512 bytes in UTF-8. Must be an https URL without query, fragment and credentials. */
            issuer: string;
            /** @description A value that the `aud` claim of the tokens must have. At most 512 bytes in UTF-8. */
            audience: string;
            /** @description The `sub` claim of the tokens. Each `*` stands for any text. At most 512 bytes in UTF-8. Must have more than asterisks, since every subject would match. */
            subject_pattern: string;
            /** @description The maximum budget of each run that a key of this rule creates. By default the runs are not limited. */
            max_budget_usd?: number | null;
            /** @description Seconds for which the keys are valid, 60 to 3,600. Defaults to 3,600. */
            ttl_seconds?: number | null;
            /** @description What the keys may be used for. By default they have all scopes of the request's own credential, which has to have each of them. */
            scopes?: components["schemas"]["Scope"][] | null;
        };
        /** @description The result of reversing a bulk archival. */
        UnarchiveRunsResponse: {
            /** @description The ids of the runs that matched and are not archived any more. */
            unarchived: string[];
            /** @description The number of runs of this page that matched. */
            matched: number;
            /** @description The runs that could not be changed. */
            refused: {
                /** @description The run's id. */
                run_id: string;
                /** @description The error code that the request for this run alone returns. */
                error_code: string;
            }[];
            /** @description Whether more runs may match. If so, send the request again with `next_cursor` as `cursor`. */
            page_info: components["schemas"]["PageInfo"];
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description A repository whose skills could not be read completely. */
        UnavailableRepository: {
            /** @description The repository's owner: the second-to-last segment of its URL. */
            owner: string;
            /** @description The repository's name. */
            name: string;
            /** @description The caller's environments with this repository. */
            environments: {
                /** @description The environment's id. */
                uid: string;
                /** @description The environment's name. */
                name: string;
            }[];
            /** @description Why the repository could not be read. */
            error: string;
        };
        /** @description Changes to an environment. Members that are absent or null keep their values. */
        UpdateEnvironmentRequest: {
            /** @description The environment's name, unique within the team or the person. */
            name?: string | null;
            /** @description A description for people. */
            description?: string | null;
            /** @description The container image in which the runs' commands execute. If the deployment does not support images, creating a run returns 422. */
            docker_image?: string | null;
            /** @description The GitHub repositories to clone, at most 10. */
            github_repos?: {
                /** @description The user or organization on GitHub. Must not contain credentials: store them as a secret and name it in token_secret. Must be the name of a GitHub user or organization. */
                owner: string;
                /** @description The repository's name. Must not contain credentials: store them as a secret and name it in token_secret. Must be the name of a GitHub repository. */
                repo: string;
            }[] | null;
            /** @description The Git repositories to clone before the agent starts, at most 10. */
            repositories?: components["schemas"]["Repository"][] | null;
            /** @description The commands to run before the agent starts, in order, at most 20. */
            setup_commands?: string[] | null;
            /** @description The plain environment variables of setup commands and commands, at most 100. Everyone who can read the environment can read them. */
            variables?: components["schemas"]["Variables"] | null;
            /** @description Cloud providers that commands sign in to with the identity of their run, without a secret. `{}` removes them. */
            providers?: components["schemas"]["Providers"] | null;
            /** @description What commands, clones and MCP servers may call. Everything by default. */
            network?: components["schemas"]["Network"] | null;
            /** @description The self-hosted worker of runs that set none. */
            worker_host?: string | null;
            /** @description The `timeout_minutes` of runs that set none, up to 10,080. 0 clears it. */
            timeout_minutes?: number | null;
            /** @description The `max_steps` of runs that set none, up to 10,000. 0 clears it. */
            max_steps?: number | null;
            /** @description The `max_total_tokens` of runs that set none, up to 1,000,000,000. 0 clears it. */
            max_total_tokens?: number | null;
            /** @description The `fallback_model_ids` of runs that set none. `[]` clears them. */
            fallback_model_ids?: string[] | null;
            /** @description The `reasoning_level` of runs that set none. `""` clears it. */
            reasoning_level?: ("none" | "minimal" | "low" | "medium" | "high" | "max" | "") | null;
            /** @description The `output_schema` of runs that set none. `{}` clears it. */
            output_schema?: components["schemas"]["OutputSchema"] | null;
            /** @description The `approvals` of runs that set none. `[]` clears them. */
            approvals?: {
                /**
                 * @description The tool's name in the conversation. Tools of MCP servers are called by `call_mcp_tool`.
                 * @enum {string}
                 */
                tool: "ask_user" | "call_mcp_tool" | "create_plan" | "create_pull_request" | "edit_files" | "get_mcp_prompt" | "glob" | "load_skill" | "message_agent" | "notify_user" | "read_command" | "read_files" | "read_mcp_resource" | "report_artifact" | "run_command" | "search_files" | "start_agent" | "stop_command" | "todo" | "wait_for_agents" | "web_fetch" | "write_command";
                /** @description A text in the command, or in the arguments as JSON of a tool without a command. `*` stands for any text, and line breaks and several spaces count as one space. Defaults to every call of the tool. At most 1024 bytes in UTF-8. */
                match?: string;
            }[] | null;
            /** @description The `commit_author` of runs that set none. `""` clears it. */
            commit_author?: string | null;
            /** @description The secrets available to runs, at most 50. */
            secrets?: {
                /** @description The secret's name. Must have 1 to 128 of the characters A-Z a-z 0-9 _ . - and start with a letter, digit or underscore. */
                name: string;
            }[] | null;
        };
        /** @description The new message of a pending follow-up. */
        UpdateFollowupRequest: {
            /** @description The new message to the agent. At most 262144 bytes in UTF-8. */
            message: string;
        };
        /** @description Changes to an identity. Members that are absent or null keep their values. */
        UpdateIdentityRequest: {
            /** @description The identity's name, unique within the team. */
            name?: string | null;
            /** @description A description for people. */
            description?: string | null;
            /** @description Additional instructions for the runs of the identity. */
            prompt?: string | null;
            /** @description The model of runs that set none. */
            base_model?: string | null;
            /** @description The environment of runs that set none. */
            environment_id?: string | null;
            /** @description The skills of runs that set none, at most 20. */
            skills?: string[] | null;
            /** @description The MCP servers of runs that set none: a map from name to server, at most 50. */
            mcp_servers?: ({
                /** @description The server's name, unique in the list. */
                name: string;
                /** @description The id of a shared server. This release reports such a server to the agent as unavailable. At most 512 bytes in UTF-8. */
                warp_id?: string;
                /** @description The program to start in the sandbox. At most 4096 bytes in UTF-8. */
                command?: string;
                /** @description The program's arguments, at most 64. */
                args?: string[];
                /** @description The program's environment variables. Values are secrets: responses show `***`. */
                env?: {
                    [key: string]: string;
                };
                /** @description The URL of a remote server. Must be an http or https URL. */
                url?: string;
                /** @description The HTTP headers of each request to the server. Values are secrets: responses show `***`. */
                headers?: {
                    [key: string]: string;
                };
                /** @description Whether the server is kept in the configuration without being started or connected to. Defaults to false. */
                disabled?: boolean;
                /** @description The server's tools that the agent may use: those of `include`, or all, without those of `exclude`. */
                tools?: {
                    /** @description The tools to use, at most 100. Defaults to all. */
                    include?: string[];
                    /** @description The tools not to use, at most 100. */
                    exclude?: string[];
                };
            }[] | {
                [key: string]: components["schemas"]["MCPServerConfig"];
            }) | null;
            /** @description The harness of runs that set none. Responses omit it for the default harness. */
            harness?: {
                /**
                 * @description The harness to use. `oz` is an alias of `default`; `acp` is any agent that speaks the Agent Client Protocol: `agent` names one that comes with the sandbox, or `command` starts another.
                 * @enum {string}
                 */
                type?: "default" | "oz" | "claude" | "codex" | "gemini" | "acp";
                /** @description The model of this harness. Defaults to the configuration's `model_id`. At most 512 bytes in UTF-8. */
                model_id?: string;
                /** @description The reasoning level, which precedes that of the configuration. Third-party harnesses have names of their own. */
                reasoning_level?: string;
                /** @description An agent of the type `acp` that comes with the sandbox, in a pinned version. */
                agent?: components["schemas"]["AcpAgentName"];
                /** @description The command that starts an agent of the type `acp` in the sandbox, for bash. It speaks over its standard streams. At most 4096 bytes in UTF-8. */
                command?: string;
            } | null;
            /** @description The self-hosted worker of runs that set none. Defaults to `hosted`, a sandbox of the service. */
            worker_host?: string | null;
            /** @description The secrets available to runs, at most 50. */
            secrets?: {
                /** @description The secret's name. Must have 1 to 128 of the characters A-Z a-z 0-9 _ . - and start with a letter, digit or underscore. */
                name: string;
            }[] | null;
            /** @description Whether keys of the identity may create runs on behalf of members. Defaults to false. */
            on_behalf_of_enabled?: boolean | null;
            /** @description Whose credentials its runs use: their creator's or their executor's. Has no effect in this release. */
            credential_strategy?: ("CREATOR" | "EXECUTOR" | "") | null;
            /** @description The `timeout_minutes` of runs that set none, up to 10,080. 0 clears it. */
            timeout_minutes?: number | null;
            /** @description The `max_steps` of runs that set none, up to 10,000. 0 clears it. */
            max_steps?: number | null;
            /** @description The `max_total_tokens` of runs that set none, up to 1,000,000,000. 0 clears it. */
            max_total_tokens?: number | null;
            /** @description The `fallback_model_ids` of runs that set none. `[]` clears them. */
            fallback_model_ids?: string[] | null;
            /** @description The `reasoning_level` of runs that set none. `""` clears it. */
            reasoning_level?: ("none" | "minimal" | "low" | "medium" | "high" | "max" | "") | null;
            /** @description The `output_schema` of runs that set none. `{}` clears it. */
            output_schema?: components["schemas"]["OutputSchema"] | null;
            /** @description The `approvals` of runs that set none. `[]` clears them. */
            approvals?: {
                /**
                 * @description The tool's name in the conversation. Tools of MCP servers are called by `call_mcp_tool`.
                 * @enum {string}
                 */
                tool: "ask_user" | "call_mcp_tool" | "create_plan" | "create_pull_request" | "edit_files" | "get_mcp_prompt" | "glob" | "load_skill" | "message_agent" | "notify_user" | "read_command" | "read_files" | "read_mcp_resource" | "report_artifact" | "run_command" | "search_files" | "start_agent" | "stop_command" | "todo" | "wait_for_agents" | "web_fetch" | "write_command";
                /** @description A text in the command, or in the arguments as JSON of a tool without a command. `*` stands for any text, and line breaks and several spaces count as one space. Defaults to every call of the tool. At most 1024 bytes in UTF-8. */
                match?: string;
            }[] | null;
            /** @description The `commit_author` of runs that set none. `""` clears it. */
            commit_author?: string | null;
            /** @description The older name of `harness.type`. `""` clears the harness. */
            base_harness?: (components["schemas"]["HarnessName"] | "") | null;
            /** @description The secrets with the API keys for its runs' calls to Anthropic's and OpenAI's models. */
            harness_auth_secrets?: {
                /** @description The name of the secret with the API key for Anthropic's models. */
                claude_auth_secret_name?: string;
                /** @description The name of the secret with the API key for OpenAI's models. */
                codex_auth_secret_name?: string;
            } | null;
            /** @description Secrets to add to those of the identity. Must be the only member of its request. */
            secrets_append?: {
                /** @description The secret's name. Must have 1 to 128 of the characters A-Z a-z 0-9 _ . - and start with a letter, digit or underscore. */
                name: string;
            }[] | null;
        };
        /** @description Changes to the caller's profile. */
        UpdateMeRequest: {
            /** @description The new display name, at most 256 characters. */
            display_name?: string | null;
            /** @description The current email address. A different one returns 422. */
            email?: string | null;
        };
        /** @description A change of a member's role. */
        UpdateMemberRequest: {
            /** @description The new role. */
            role: components["schemas"]["Role"];
        };
        /** @description The new content of a schedule. Optional members that are absent keep their values. */
        UpdateScheduleRequest: {
            /** @description The schedule's name. */
            name: string;
            /** @description A cron expression with five fields, or a nickname such as `@daily`. At most 512 bytes in UTF-8. */
            cron_schedule: string;
            /** @description The task of each run. Required unless `agent_config` names a skill. At most 262144 bytes in UTF-8. */
            prompt?: string;
            /** @description Whether the schedule fires. */
            enabled: boolean;
            /** @description The configuration of each run, before the defaults of the identity, the environment and the team. */
            agent_config?: components["schemas"]["AmbientAgentConfig"];
            /** @description The identity that executes the runs. For team schedules only. At most 512 bytes in UTF-8. */
            agent_uid?: string;
            /** @description `normal` (default) executes the task, `plan` only creates a plan, `orchestrate` delegates to child runs. */
            mode?: components["schemas"]["RunMode"];
            /** @description The labels of each run: at most 20 keys, with values of at most 256 bytes. */
            metadata?: components["schemas"]["Metadata"];
            /** @description The IANA time zone of the cron expression. Defaults to `UTC`. At most 64 bytes in UTF-8. */
            time_zone?: string;
            /** @description What to do if an earlier run is still active: `allow` (default), `skip` the firing, or `cancel_previous`. */
            overlap?: components["schemas"]["Overlap"];
            /** @description The number of consecutive failed runs after which the schedule pauses itself, at most 10. By default it never does. 0 clears the limit. */
            pause_after_failures?: number;
        };
        /** @description Changes to a team. Members that are absent or null keep their values. */
        UpdateTeamRequest: {
            /** @description The team's name. */
            name?: string | null;
            /** @description The team's limits and defaults. */
            settings?: {
                /** @description The number of available identities, 1 to 500. Defaults to 20. */
                identity_limit?: number | null;
                /** @description The number of runs that execute at the same time, 1 to 10,000. Defaults to 20. */
                concurrency_limit?: number | null;
                /** @description The number of runs that wait for capacity, 1 to 100,000. Defaults to 1,000. */
                queue_limit?: number | null;
                /** @description The model of runs that set none. */
                default_model_id?: string | null;
                /** @description The environment of runs that set none. */
                default_environment_id?: string | null;
                /** @description The author of commits of runs that set none, such as `Build Bot <bot@example.com>`. Null: that of the deployment. */
                commit_author?: string | null;
                /** @description The maximum cost of the team's model calls in a calendar month (UTC), in US dollars. Null: not limited. */
                budget_usd_month?: number | null;
                /** @description The days after which ended runs are deleted, with all their files, 1 to 3,650. Null: they are kept. */
                retention_days?: number | null;
                /** @description Whether runs of the team can be shared with everybody who has their link. If not, runs that were shared before are not public either. */
                sharing_allowed?: boolean | null;
                /** @description By the name of a provider, the team's secret with the API key for the team's calls to it, in place of the deployment's key. An empty object: none. */
                provider_keys?: {
                    [key: string]: string;
                } | null;
            } | null;
        };
        /** @description Changes to a trigger. Absent members keep their values. */
        UpdateTriggerRequest: {
            /** @description A name for people, which is the title of the runs. */
            name?: string;
            /** @description The template of the prompts, at most 8 KiB. A preset has one. At most 8192 bytes in UTF-8. */
            prompt?: string;
            /** @description The types of events that start runs, such as `build` or `build.failed`. All by default. */
            events?: string[];
            /** @description The identity that executes the runs. `""` clears it: the trigger's creator executes them. */
            agent_uid?: string | "";
            /** @description The configuration of the runs, before the defaults of the identity, the environment and the team. `{}` is none. */
            agent_config?: components["schemas"]["AmbientAgentConfig"];
            /** @description The most that each run with its children and follow-ups may spend on models, in US dollars. `null` clears it. */
            budget_usd?: number | null;
            /** @description The condition that events have to meet, an expression of the Common Expression Language over `event`. Absent or empty for none. At most 2048 bytes in UTF-8. */
            filter?: string;
            /** @description The expression that yields the thread of an event of the kind `webhook`, a string. An empty one is no thread. At most 2048 bytes in UTF-8. */
            thread_key?: string;
            /** @description The mode of the runs. */
            mode?: components["schemas"]["RunMode"];
            /** @description The template of the follow-ups that later events of a thread send. `""` restores `{{ event.text }}`. */
            followup_prompt?: string | "";
            /**
             * @description Whether later events of an issue, a pull request, a ticket or a conversation continue the first one's run (`continue`, the default), or start runs of their own (`separate`).
             * @enum {string}
             */
            threads?: "continue" | "separate";
            /**
             * @description What an event of a thread does while its run is active: its follow-up waits for the turn (`enqueue`, the default) or interrupts it, or the event is ignored (`skip`).
             * @enum {string}
             */
            busy?: "enqueue" | "interrupt" | "skip";
            /** @description Who may start runs besides people with write access. */
            allow?: components["schemas"]["TriggerAuthors"];
            /** @description The name of a secret of the team with a token of the other system, of the kinds `github`, `gitlab` and `slack`: people with write access may start runs then. `""` is none. */
            credential?: string | "";
            /** @description Whether runs reply to the events that start them. They do not by default. */
            reply?: components["schemas"]["TriggerReply"];
            /** @description The labels of the runs, at most 18. Must have at most 18 keys. */
            metadata?: {
                [key: string]: string;
            };
            /** @description The number of consecutive failed runs after which the trigger pauses itself, at most 10. By default it never does. 0 clears the limit. */
            pause_after_failures?: number;
            /** @description Whether events start runs. Defaults to true. */
            enabled?: boolean;
            /** @description What its runs may use their keys for. `[]` stands for all scopes of the request's credential. */
            scopes?: components["schemas"]["Scope"][];
        };
        /** @description Changes to a webhook. Members that are absent or null keep their values. */
        UpdateWebhookRequest: {
            /** @description A name for people. `""` clears it. */
            name?: (string | "") | null;
            /** @description Where deliveries are sent. Its host must be on the internet. */
            url?: string | null;
            /** @description What is sent: the event as JSON (`json`, the default), or a message for the URL of an incoming webhook of Slack (`slack`). */
            format?: ("json" | "slack") | null;
            /** @description The types of events that are delivered. `[]` stands for all. */
            event_types?: components["schemas"]["WebhookEventType"][] | null;
            /** @description Selects the runs whose events are delivered. All runs of the team by default, and with `{}`. */
            filter?: components["schemas"]["WebhookFilter"] | null;
            /** @description Whether events are delivered. True for a new webhook. */
            enabled?: boolean | null;
        };
        /** @description The files of a snapshot. Only a checkpoint may have none: the workspace is empty. */
        UploadSnapshotRequest: {
            /** @description The files of the snapshot, at most 100. Only a `checkpoint`, of an empty workspace, can have none. */
            files: {
                /** @description The file's name, without directories. At most 255 bytes in UTF-8. Must be a file name without slashes. */
                filename: string;
                /** @description The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain. */
                mime_type: string;
                /** @description The file's size in bytes. */
                size_bytes?: number;
                /** @description The SHA-256 digest of the file. Must have 64 lowercase hexadecimal digits. */
                sha256?: string;
            }[];
            /**
             * @description `checkpoint` for files to commit as a checkpoint, `legacy` (default) for the final files of an execution.
             * @enum {string}
             */
            mode?: "legacy" | "checkpoint";
            /** @description The name of the snapshot. Required for `checkpoint`. Must have 1 to 128 of the characters A-Z a-z 0-9 . _ - and no two underscores in a row. */
            generation?: string;
        };
        /** @description The upload targets of a snapshot. */
        UploadSnapshotResponse: {
            /** @description One upload target per file, in the order of the request. */
            uploads: components["schemas"]["UploadTarget"][];
        };
        /** @description Where and how to upload a file. The target expires after 10 minutes and accepts only the announced size and checksum. */
        UploadTarget: {
            /**
             * Format: uri
             * @description A time-limited URL. Do not send credentials to it.
             */
            url: string;
            /**
             * @description The HTTP method of the upload.
             * @enum {string}
             */
            method: "PUT" | "POST";
            /** @description The headers to send with the upload. Null if there are none. */
            headers: {
                [key: string]: string;
            } | null;
            /** @description The form fields to send, in this order. Present if `method` is `POST`. */
            fields?: {
                /** @description The name of the form field. */
                name: string;
                /** @description The value of the form field. */
                value: {
                    /**
                     * @description `static`: send `value`. `content_crc32c`: send the CRC-32C checksum of the file. `content_data`: send the file.
                     * @constant
                     */
                    kind: "static";
                    /** @description The text to send. */
                    value: string;
                } | {
                    /**
                     * @description `static`: send `value`. `content_crc32c`: send the CRC-32C checksum of the file. `content_data`: send the file.
                     * @constant
                     */
                    kind: "content_crc32c";
                } | {
                    /**
                     * @description `static`: send `value`. `content_crc32c`: send the CRC-32C checksum of the file. `content_data`: send the file.
                     * @constant
                     */
                    kind: "content_data";
                };
            }[];
        };
        /** @description The ended runs of one day, creator, executor, model, schedule or environment. */
        UsageBucket: {
            /** @description The day (such as 2026-05-18) or the id that the bucket stands for. Null: runs without one. */
            key: string | null;
            /** @description The number of ended runs. */
            runs: number;
            /** @description The runs that are `SUCCEEDED`. */
            succeeded: number;
            /** @description The runs that are `FAILED` or `ERROR`. */
            failed: number;
            /** @description The tokens of all model calls. */
            total_tokens: number;
            /** @description The cost of all model calls, as far as their models have a price, and of compute. */
            cost_usd: number;
            /** @description The part of `cost_usd` that is the cost of compute. Absent if there is none, or if it is unknown. */
            compute_cost_usd?: number;
            /** @description The seconds that the runs were executing. */
            run_seconds: number;
        };
        /**
         * @description What the buckets of a usage report stand for.
         * @enum {string}
         */
        UsageGroup: "day" | "creator" | "executor" | "model" | "schedule" | "environment";
        /** @description The usage of the caller's runs. */
        UsageReport: {
            /** @description The buckets that have runs, sorted by key. */
            buckets: components["schemas"]["UsageBucket"][];
            /**
             * @description The currency of all amounts.
             * @constant
             */
            currency: "USD";
        };
        /** @description Plain environment variables of commands, by name. Everyone who can read the environment can read them. */
        Variables: {
            [key: string]: string;
        };
        /**
         * @description What a run waits for: the answer to the agent's question, an approval, or any follow-up.
         * @enum {string}
         */
        WaitingFor: "answer" | "approval" | "followup";
        /** @description A web session of the caller. */
        WebSessionItem: {
            /** @description The session's id. */
            uid: string;
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of its latest use that changed something or extended the session, to five minutes.
             */
            last_used_at: string;
            /**
             * Format: date-time
             * @description The time at which the session ends unless it is used again.
             */
            expires_at: string;
            /** @description The browser and its system, as far as its User-Agent header names them. */
            browser?: string;
            /** @description Whether this is the session of the request. */
            current: boolean;
        };
        /**
         * @description The type of an event that webhooks deliver.
         * @enum {string}
         */
        WebhookEventType: "run_created" | "run_queued" | "run_pending" | "run_claimed" | "worker_container_ready" | "followup_received" | "execution_lost" | "artifact_created" | "run_succeeded" | "run_failed" | "run_errored" | "run_blocked" | "run_cancelled" | "run_stopped" | "trigger_failed" | "schedule_failed" | "schedule_missed";
        /** @description The runs whose events are delivered: filters of the list of runs that a run matches for as long as it exists, combined with AND. */
        WebhookFilter: {
            /** @description Selects runs by the name of their configuration. At most 1024 bytes in UTF-8. */
            name?: string;
            /** @description Selects runs by model. At most 512 bytes in UTF-8. */
            model_id?: string;
            /** @description Selects runs by the uid of their creator. At most 512 bytes in UTF-8. */
            creator?: string;
            /** @description Selects runs by the uid of their executor. At most 512 bytes in UTF-8. */
            executor?: string;
            /** @description Selects runs from this source or one of these, each a RunSourceType. An unknown value selects no runs. */
            source?: string | string[];
            /** @description Selects runs by execution location. */
            execution_location?: components["schemas"]["ExecutionLocation"];
            /** @description Selects runs by environment; `empty-environment` selects runs without one. At most 512 bytes in UTF-8. */
            environment_id?: string;
            /** @description An alias of `skill_spec`. At most 512 bytes in UTF-8. */
            skill?: string;
            /** @description Selects runs by skill: `owner/repo:name` or `owner/repo:path/to/SKILL.md`. At most 512 bytes in UTF-8. */
            skill_spec?: string;
            /** @description Selects runs by schedule, including deleted schedules. At most 512 bytes in UTF-8. */
            schedule_id?: string;
            /** @description Selects runs by the trigger that started them, including deleted triggers. At most 512 bytes in UTF-8. */
            trigger_id?: string;
            /** @description Selects runs by automation: the uid of a trigger, or the value of the metadata key `automation_id`. At most 512 bytes in UTF-8. */
            automation_id?: string;
            /** @description Selects the descendants of this run, which must exist and be visible. At most 512 bytes in UTF-8. */
            ancestor_run_id?: string;
            /** @description Selects runs that have cost at least this many US dollars by their models and sandboxes, without their child runs. */
            min_cost_usd?: number;
            /** @description Selects runs by metadata; in a query, as `metadata[ticket]=SHOP-1412`. At most 5 keys. */
            metadata?: {
                [key: string]: string;
            };
        };
        /** @description A webhook as responses show it. */
        WebhookItem: {
            /** @description The webhook's id. */
            uid: string;
            /** @description A name for people. */
            name?: string;
            /** @description Where deliveries are sent. */
            url: string;
            /**
             * @description `slack` if messages for an incoming webhook of Slack are sent. Absent for events as JSON.
             * @constant
             */
            format?: "slack";
            /** @description The types of events that are delivered. */
            event_types: components["schemas"]["WebhookEventType"][];
            /** @description The runs whose events are delivered. Absent for all runs of the team. */
            filter?: components["schemas"]["WebhookFilter"];
            /** @description Whether events are delivered. A receiver that responds 410 disables the webhook. */
            enabled: boolean;
            /**
             * Format: date-time
             * @description The time of creation.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description The time of the latest change.
             */
            updated_at: string;
            /** @description The person who created the webhook. */
            created_by: components["schemas"]["RunCreatorInfo"];
            /** @description The owner. */
            scope: {
                /**
                 * @description Always `Team`.
                 * @constant
                 */
                type: "Team";
                /** @description The team's id. */
                uid: string;
            };
            /**
             * Format: date-time
             * @description The time until which deliveries are signed with the previous secret as well. Absent unless the secret was replaced.
             */
            previous_secret_expires_at?: string;
            /** @description What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request. */
            warnings?: components["schemas"]["RequestWarning"][];
        };
        /** @description A connected self-hosted worker. Several connections may share its id. */
        WorkerItem: {
            /** @description The worker's id, the value for `worker_host` of a configuration. */
            worker_host: string;
            /** @description The number of connections with this id. */
            connection_count: number;
            /**
             * Format: date-time
             * @description The start time of the oldest connection.
             */
            connected_at: string;
            /**
             * Format: date-time
             * @description The time of the latest message from the worker.
             */
            last_seen_at: string;
        };
        RunsListParams: {
            /**
             * @description The maximum number of runs, 1 to 500.
             * @default 20
             */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
            /**
             * @description The sort key. `agent` sorts by skill; runs without a skill come last in both directions.
             * @default updated_at
             * @enum {string}
             */
            sort_by?: "updated_at" | "created_at" | "title" | "agent";
            /**
             * @description The sort direction.
             * @default desc
             * @enum {string}
             */
            sort_order?: "asc" | "desc";
            /** @description Selects runs in one of these states. */
            state?: components["schemas"]["RunState"][];
            /** @description Selects runs whose task has one of these statuses. `running`: the run or one of its descendants has not ended. The others match the state of the run itself: `failed` (`FAILED`, `ERROR`), `blocked`, `cancelled`, `complete` (`SUCCEEDED`). A run may match two. */
            task_status?: components["schemas"]["TaskStatus"][];
            /** @description Selects runs by the name of their configuration. */
            name?: string;
            /** @description Selects runs by model. */
            model_id?: string;
            /** @description Selects runs by the uid of their creator. */
            creator?: string;
            /** @description Selects runs by the uid of their executor. */
            executor?: string;
            /** @description Selects runs from this source or one of these, each a RunSourceType. An unknown value selects no runs. */
            source?: string[];
            /**
             * @description Selects runs by execution location.
             * @enum {string}
             */
            execution_location?: "REMOTE" | "LOCAL";
            /**
             * Format: date-time
             * @description Selects runs created after this time.
             */
            created_after?: string;
            /**
             * Format: date-time
             * @description Selects runs created before this time.
             */
            created_before?: string;
            /**
             * Format: date-time
             * @description Selects runs that changed after this time.
             */
            updated_after?: string;
            /** @description Selects runs by environment; `empty-environment` selects runs without one. */
            environment_id?: string;
            /** @description An alias of `skill_spec`. */
            skill?: string;
            /** @description Selects runs by skill: `owner/repo:name` or `owner/repo:path/to/SKILL.md`. */
            skill_spec?: string;
            /** @description Selects runs by schedule, including deleted schedules. */
            schedule_id?: string;
            /** @description Selects runs by the trigger that started them, including deleted triggers. */
            trigger_id?: string;
            /** @description Selects runs by automation: the uid of a trigger, or the value of the metadata key `automation_id`. */
            automation_id?: string;
            /** @description Selects the descendants of this run, which must exist and be visible. */
            ancestor_run_id?: string;
            /** @description Selects runs with an artifact of this type. */
            artifact_type?: components["schemas"]["ArtifactType"];
            /**
             * @description Selects archived runs (`true`), runs that are not archived (`false`, the default), or `all`.
             * @enum {string}
             */
            archived?: "false" | "true" | "all";
            /** @description Searches titles, prompts and skills. Ignores case, accents and word order, and allows for a typo in longer words. The id or the URL of a run finds that run. */
            q?: string;
            /** @description Selects no runs, since no run belongs to a factory. */
            factory_uid?: string;
            /** @description `true` selects no runs, since no run belongs to a factory. */
            factory_only?: boolean;
            /** @description Selects runs that have cost at least this many US dollars by their models and sandboxes, without their child runs. */
            min_cost_usd?: number;
            /** @description Selects runs by metadata; in a query, as `metadata[ticket]=SHOP-1412`. At most 5 keys. */
            metadata?: {
                [key: string]: string;
            };
        };
        RunsCancelParams: {
            /**
             * @description Whether to cancel `PENDING`, `CLAIMED` and self-hosted runs as well.
             * @default false
             */
            force?: boolean;
        };
        RunsListFollowupsParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        RunsTimelineParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        RunsConversationParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        RunsFindByReferenceParams: {
            /** @description The URL that the run refers to, percent-encoded. */
            url: string;
        };
        RunsFindByReferenceResponse: {
            /** @description The run's id. */
            run_id: string;
        };
        RunsListEventsParams: {
            /**
             * @description Returns events after this number.
             * @default 0
             */
            after?: number;
            /**
             * @description The maximum number of seconds to wait for an event, 0 to 25.
             * @default 0
             */
            wait?: number;
            /**
             * @description Whether to include output that is still being produced.
             * @default false
             */
            live?: boolean;
            /** @description `live_next` of the last response. Returns only newer live output. */
            live_after?: string;
        };
        RunsResponseResponse: {
            /** @description The agent's final message, or an empty string. */
            text: string;
            /** @description The value of the final message, if the run has an `output_schema` and the message fits it. */
            structured?: unknown;
            /** @description The run's current state. */
            state: components["schemas"]["RunState"];
            /** @description The run's artifacts, oldest first. */
            artifacts: components["schemas"]["ArtifactItem"][];
        };
        RunsRetrievePublicParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        RunsDownloadPublicArtifactParams: {
            /**
             * @description Whether to redirect to the URL. `false` returns it in the body instead.
             * @default true
             */
            redirect?: boolean;
        };
        AuditListParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
            /**
             * Format: date-time
             * @description Lists only events at or after this time.
             */
            from?: string;
            /**
             * Format: date-time
             * @description Lists only events before this time.
             */
            to?: string;
            /** @description Lists only events of this user or identity, by uid. */
            actor?: string;
            /** @description Lists only this action, such as `keys.delete`, or those that begin with it, such as `keys`. */
            action?: string;
            /** @description Lists only events of the resource with this uid. For a run, its follow-ups are included. */
            target?: string;
        };
        UsageRetrieveParams: {
            /**
             * Format: date
             * @description The first UTC day. Defaults to 30 days up to `to`, which is included.
             */
            from?: string;
            /**
             * Format: date
             * @description The last UTC day, which is included. Defaults to today.
             */
            to?: string;
            /**
             * @description What a bucket stands for.
             * @default day
             */
            group_by?: components["schemas"]["UsageGroup"];
        };
        ConversationsRetrieveParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        ConversationsTranscriptParams: {
            /**
             * @description Whether to redirect to the URL. `false` returns it in the body instead.
             * @default true
             */
            redirect?: boolean;
        };
        ArtifactsDownloadUrlParams: {
            /**
             * @description Whether to redirect to the URL. `false` returns it in the body instead.
             * @default true
             */
            redirect?: boolean;
        };
        AgentsListParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
            /** @description Lists only this repository: `owner/repo`, or its URL without credentials. */
            repo?: string;
            /** @description The token of a shared link, which grants read access to its environment. */
            link?: string;
            /**
             * @description Whether to read the repositories again instead of using cached results.
             * @default false
             */
            refresh?: boolean;
            /**
             * @description Whether to include malformed skills, with the reason in `error`.
             * @default false
             */
            include_malformed_skills?: boolean;
            /**
             * @description The sort key. `last_run` returns the latest run first, and skills without runs last.
             * @default name
             * @enum {string}
             */
            sort_by?: "name" | "last_run";
        };
        WorkersListParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        SchedulesListParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        SchedulesTicksParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        GithubInstallationsParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        TriggersListParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        TriggersDeliveriesParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
            /** @description Selects deliveries by outcome. */
            outcome?: components["schemas"]["TriggerOutcome"];
        };
        IdentitiesListParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        IdentitiesKeysListParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        IdentitiesTrustRulesListParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        EnvironmentsListParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
            /**
             * @description The sort key. `last_updated` returns the latest change first.
             * @default last_updated
             * @enum {string}
             */
            sort_by?: "name" | "last_updated";
            /** @description The token of a shared link, which grants read access to its environment. */
            link?: string;
        };
        EnvironmentsRetrieveParams: {
            /** @description The token of a shared link, which grants read access to its environment. */
            link?: string;
        };
        KeysListParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        WebSessionsEndParams: {
            /**
             * @description Whether to end all web sessions of the caller.
             * @default false
             */
            all?: boolean;
        };
        WebSessionsListParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        TeamsListParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        TeamsMembersListParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        TeamsMembersRemoveParams: {
            /**
             * @description Whether to keep the agent keys that the member created.
             * @default false
             */
            keep_keys?: boolean;
        };
        TeamsInvitationsListParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        SecretsListParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        WebhooksListParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
        };
        WebhooksDeliveriesParams: {
            /** @description The maximum number of items. By default, up to 500 items or 4 MB. */
            limit?: number;
            /** @description The `page_info.next_cursor` of the previous page. */
            cursor?: string;
            /** @description Selects deliveries in this state. A page may then be short and not the last. */
            state?: components["schemas"]["DeliveryState"];
            /**
             * @description The direction of the deliveries' numbers: `asc` lists the oldest first.
             * @default desc
             * @enum {string}
             */
            sort_order?: "asc" | "desc";
        };
        WebhooksRedeliverParams: {
            /** @description The number of the first delivery to send again. Required. */
            from_sequence: number;
        };
        HarnessSupportGetTranscriptResponse: {
            /**
             * Format: uri
             * @description A time-limited URL of the file. Do not send credentials to it.
             */
            download_url: string;
            /**
             * Format: date-time
             * @description The expiry time of the URL.
             */
            expires_at: string;
        };
        IdentityIssuerConfigurationResponse: {
            /** @description The `iss` claim of identity tokens: the public address of the API. */
            issuer: string;
            /** @description The URL of the public keys. */
            jwks_uri: string;
            /** @description Always `id_token`. */
            response_types_supported: string[];
            /** @description Always `public`. */
            subject_types_supported: string[];
            /** @description The algorithms that sign identity tokens. */
            id_token_signing_alg_values_supported: string[];
            /** @description The claims that identity tokens may have. */
            claims_supported: string[];
        };
        IdentityIssuerKeysResponse: {
            /** @description The public keys, oldest first. Empty before the first token. */
            keys: {
                /**
                 * @description The type of the key.
                 * @constant
                 */
                kty: "EC";
                /**
                 * @description The curve of the key.
                 * @constant
                 */
                crv: "P-256";
                /** @description The x coordinate of the public key. */
                x: string;
                /** @description The y coordinate of the public key. */
                y: string;
                /** @description The id of the key, as in the header of its tokens. */
                kid: string;
                /**
                 * @description Always `sig`: the key verifies signatures.
                 * @constant
                 */
                use: "sig";
                /**
                 * @description The algorithm of the key.
                 * @constant
                 */
                alg: "ES256";
            }[];
        };
        DocumentationOpenapiResponse: {
            /** @description The version of the OpenAPI specification. */
            openapi: string;
        };
        DocumentationReferenceParams: {
            /** @description Words to search for in the documentation. The page then has the results. */
            q?: string;
        };
    };
}
export type AcpAgentName = components['schemas']['AcpAgentName'];
export type AgentItem = components['schemas']['AgentItem'];
export type AgentVariant = components['schemas']['AgentVariant'];
export type AmbientAgentConfig = components['schemas']['AmbientAgentConfig'];
export type Approval = components['schemas']['Approval'];
export type ApprovalCall = components['schemas']['ApprovalCall'];
export type ApprovalDecision = components['schemas']['ApprovalDecision'];
export type ArchiveRunsResponse = components['schemas']['ArchiveRunsResponse'];
export type ArtifactItem = components['schemas']['ArtifactItem'];
export type ArtifactResponse = components['schemas']['ArtifactResponse'];
export type ArtifactType = components['schemas']['ArtifactType'];
export type AuditEvent = components['schemas']['AuditEvent'];
export type AuditTarget = components['schemas']['AuditTarget'];
export type AuditVia = components['schemas']['AuditVia'];
export type Block = components['schemas']['Block'];
export type CancelRunsRequest = components['schemas']['CancelRunsRequest'];
export type CancelRunsResponse = components['schemas']['CancelRunsResponse'];
export type ClaimInstallationRequest = components['schemas']['ClaimInstallationRequest'];
export type ClientEvent = components['schemas']['ClientEvent'];
export type CommitSnapshotRequest = components['schemas']['CommitSnapshotRequest'];
export type CommitSnapshotResponse = components['schemas']['CommitSnapshotResponse'];
export type Conversation = components['schemas']['Conversation'];
export type ConversationRedirect = components['schemas']['ConversationRedirect'];
export type CostStep = components['schemas']['CostStep'];
export type CreateAttachmentRequest = components['schemas']['CreateAttachmentRequest'];
export type CreateAttachmentResponse = components['schemas']['CreateAttachmentResponse'];
export type CreateEnvironmentRequest = components['schemas']['CreateEnvironmentRequest'];
export type CreateIdentityRequest = components['schemas']['CreateIdentityRequest'];
export type CreateInvitationRequest = components['schemas']['CreateInvitationRequest'];
export type CreateKeyRequest = components['schemas']['CreateKeyRequest'];
export type CreateScheduleRequest = components['schemas']['CreateScheduleRequest'];
export type CreateSecretRequest = components['schemas']['CreateSecretRequest'];
export type CreateSessionRequest = components['schemas']['CreateSessionRequest'];
export type CreateTeamRequest = components['schemas']['CreateTeamRequest'];
export type CreateTriggerRequest = components['schemas']['CreateTriggerRequest'];
export type CreateWebhookRequest = components['schemas']['CreateWebhookRequest'];
export type CreatedAccount = components['schemas']['CreatedAccount'];
export type CreatedInvitation = components['schemas']['CreatedInvitation'];
export type CreatedKey = components['schemas']['CreatedKey'];
export type CreatedTrigger = components['schemas']['CreatedTrigger'];
export type CreatedWebhook = components['schemas']['CreatedWebhook'];
export type DeleteRunsResponse = components['schemas']['DeleteRunsResponse'];
export type DeleteScheduleResponse = components['schemas']['DeleteScheduleResponse'];
export type DeliveryCounts = components['schemas']['DeliveryCounts'];
export type DeliveryItem = components['schemas']['DeliveryItem'];
export type DeliveryState = components['schemas']['DeliveryState'];
export type DownloadAttachmentsRequest = components['schemas']['DownloadAttachmentsRequest'];
export type DownloadAttachmentsResponse = components['schemas']['DownloadAttachmentsResponse'];
export type DownloadUrl = components['schemas']['DownloadUrl'];
export type DryRunResponse = components['schemas']['DryRunResponse'];
export type Empty = components['schemas']['Empty'];
export type EnvironmentConfig = components['schemas']['EnvironmentConfig'];
export type EnvironmentItem = components['schemas']['EnvironmentItem'];
export type EnvironmentPerson = components['schemas']['EnvironmentPerson'];
export type Problem = components['schemas']['Problem'];
export type EventAuthor = components['schemas']['EventAuthor'];
export type ExecutionLocation = components['schemas']['ExecutionLocation'];
export type ExternalConversationRequest = components['schemas']['ExternalConversationRequest'];
export type ExternalConversationResponse = components['schemas']['ExternalConversationResponse'];
export type Finding = components['schemas']['Finding'];
export type FinishTaskRequest = components['schemas']['FinishTaskRequest'];
export type FinishTaskResponse = components['schemas']['FinishTaskResponse'];
export type Followup = components['schemas']['Followup'];
export type FollowupItem = components['schemas']['FollowupItem'];
export type FollowupOutcome = components['schemas']['FollowupOutcome'];
export type FollowupPolicy = components['schemas']['FollowupPolicy'];
export type GitChanges = components['schemas']['GitChanges'];
export type GithubAccount = components['schemas']['GithubAccount'];
export type HandoffAttachments = components['schemas']['HandoffAttachments'];
export type HarnessName = components['schemas']['HarnessName'];
export type HeartbeatRequest = components['schemas']['HeartbeatRequest'];
export type HeartbeatResponse = components['schemas']['HeartbeatResponse'];
export type IdentityItem = components['schemas']['IdentityItem'];
export type IdentityTokenRequest = components['schemas']['IdentityTokenRequest'];
export type IdentityTokenResponse = components['schemas']['IdentityTokenResponse'];
export type InjectedSecret = components['schemas']['InjectedSecret'];
export type InstallationClaim = components['schemas']['InstallationClaim'];
export type InstallationItem = components['schemas']['InstallationItem'];
export type Interrupt = components['schemas']['Interrupt'];
export type InterruptRunResponse = components['schemas']['InterruptRunResponse'];
export type InvitationItem = components['schemas']['InvitationItem'];
export type KeyItem = components['schemas']['KeyItem'];
export type LastDelivery = components['schemas']['LastDelivery'];
export type ListAgentsResponse = components['schemas']['ListAgentsResponse'];
export type ListAuditEventsResponse = components['schemas']['ListAuditEventsResponse'];
export type ListDeliveriesResponse = components['schemas']['ListDeliveriesResponse'];
export type ListEnvironmentsResponse = components['schemas']['ListEnvironmentsResponse'];
export type ListFollowupsResponse = components['schemas']['ListFollowupsResponse'];
export type ListIdentitiesResponse = components['schemas']['ListIdentitiesResponse'];
export type ListInstallationsResponse = components['schemas']['ListInstallationsResponse'];
export type ListInvitationsResponse = components['schemas']['ListInvitationsResponse'];
export type ListKeysResponse = components['schemas']['ListKeysResponse'];
export type ListMembersResponse = components['schemas']['ListMembersResponse'];
export type ListRunsResponse = components['schemas']['ListRunsResponse'];
export type ListSchedulesResponse = components['schemas']['ListSchedulesResponse'];
export type ListSecretsResponse = components['schemas']['ListSecretsResponse'];
export type ListTeamsResponse = components['schemas']['ListTeamsResponse'];
export type ListTicksResponse = components['schemas']['ListTicksResponse'];
export type ListTriggerDeliveriesResponse = components['schemas']['ListTriggerDeliveriesResponse'];
export type ListTriggersResponse = components['schemas']['ListTriggersResponse'];
export type ListTrustRulesResponse = components['schemas']['ListTrustRulesResponse'];
export type ListWebSessionsResponse = components['schemas']['ListWebSessionsResponse'];
export type ListWebhooksResponse = components['schemas']['ListWebhooksResponse'];
export type ListWorkersResponse = components['schemas']['ListWorkersResponse'];
export type LiveFrame = components['schemas']['LiveFrame'];
export type LiveRequest = components['schemas']['LiveRequest'];
export type LiveResponse = components['schemas']['LiveResponse'];
export type MCPServerConfig = components['schemas']['MCPServerConfig'];
export type MatchingRunsRequest = components['schemas']['MatchingRunsRequest'];
export type McpMessage = components['schemas']['McpMessage'];
export type McpResponse = components['schemas']['McpResponse'];
export type Me = components['schemas']['Me'];
export type MemberItem = components['schemas']['MemberItem'];
export type Membership = components['schemas']['Membership'];
export type Message = components['schemas']['Message'];
export type MessagesRequest = components['schemas']['MessagesRequest'];
export type MessagesResponse = components['schemas']['MessagesResponse'];
export type Metadata = components['schemas']['Metadata'];
export type Model = components['schemas']['Model'];
export type ModelCost = components['schemas']['ModelCost'];
export type ModelsResponse = components['schemas']['ModelsResponse'];
export type MonthlySpending = components['schemas']['MonthlySpending'];
export type Network = components['schemas']['Network'];
export type NotifyUserRequest = components['schemas']['NotifyUserRequest'];
export type OidcCodeRequest = components['schemas']['OidcCodeRequest'];
export type OutputSchema = components['schemas']['OutputSchema'];
export type Overlap = components['schemas']['Overlap'];
export type PageInfo = components['schemas']['PageInfo'];
export type PrepareAttachmentsRequest = components['schemas']['PrepareAttachmentsRequest'];
export type PrepareAttachmentsResponse = components['schemas']['PrepareAttachmentsResponse'];
export type Providers = components['schemas']['Providers'];
export type PublicArtifact = components['schemas']['PublicArtifact'];
export type PublicRun = components['schemas']['PublicRun'];
export type PullRequestStatus = components['schemas']['PullRequestStatus'];
export type PushBranchRequest = components['schemas']['PushBranchRequest'];
export type PushBranchResponse = components['schemas']['PushBranchResponse'];
export type ReasoningLevel = components['schemas']['ReasoningLevel'];
export type ReceivedDelivery = components['schemas']['ReceivedDelivery'];
export type RecentRun = components['schemas']['RecentRun'];
export type RedeliverResponse = components['schemas']['RedeliverResponse'];
export type RemovedMember = components['schemas']['RemovedMember'];
export type ReportArtifactRequest = components['schemas']['ReportArtifactRequest'];
export type ReportArtifactResponse = components['schemas']['ReportArtifactResponse'];
export type ReportShutdownRequest = components['schemas']['ReportShutdownRequest'];
export type Repository = components['schemas']['Repository'];
export type RepositorySelection = components['schemas']['RepositorySelection'];
export type RepositoryToken = components['schemas']['RepositoryToken'];
export type RequestUsage = components['schemas']['RequestUsage'];
export type RequestWarning = components['schemas']['RequestWarning'];
export type ResolvePromptRequest = components['schemas']['ResolvePromptRequest'];
export type ResolvePromptResponse = components['schemas']['ResolvePromptResponse'];
export type ResolvedAgentConfig = components['schemas']['ResolvedAgentConfig'];
export type Role = components['schemas']['Role'];
export type RotateSecretResponse = components['schemas']['RotateSecretResponse'];
export type RotateTriggerSecretRequest = components['schemas']['RotateTriggerSecretRequest'];
export type RotatedTrigger = components['schemas']['RotatedTrigger'];
export type RunAgentRequest = components['schemas']['RunAgentRequest'];
export type RunAgentResponse = components['schemas']['RunAgentResponse'];
export type RunCreatorInfo = components['schemas']['RunCreatorInfo'];
export type RunEvent = components['schemas']['RunEvent'];
export type RunEvents = components['schemas']['RunEvents'];
export type RunFilter = components['schemas']['RunFilter'];
export type RunFollowupRequest = components['schemas']['RunFollowupRequest'];
export type RunFollowupResponse = components['schemas']['RunFollowupResponse'];
export type RunItem = components['schemas']['RunItem'];
export type RunMode = components['schemas']['RunMode'];
export type RunSchedule = components['schemas']['RunSchedule'];
export type RunSetup = components['schemas']['RunSetup'];
export type RunSourceType = components['schemas']['RunSourceType'];
export type RunState = components['schemas']['RunState'];
export type RunStatusMessage = components['schemas']['RunStatusMessage'];
export type SavedFile = components['schemas']['SavedFile'];
export type ScheduleItem = components['schemas']['ScheduleItem'];
export type Scope = components['schemas']['Scope'];
export type SecretItem = components['schemas']['SecretItem'];
export type SessionInfo = components['schemas']['SessionInfo'];
export type SessionRedirect = components['schemas']['SessionRedirect'];
export type SetupReport = components['schemas']['SetupReport'];
export type ShareRequest = components['schemas']['ShareRequest'];
export type ShareResponse = components['schemas']['ShareResponse'];
export type ShareRunRequest = components['schemas']['ShareRunRequest'];
export type ShareRunResponse = components['schemas']['ShareRunResponse'];
export type SignInLink = components['schemas']['SignInLink'];
export type SignInMethods = components['schemas']['SignInMethods'];
export type SignInToken = components['schemas']['SignInToken'];
export type SnapshotClone = components['schemas']['SnapshotClone'];
export type Step = components['schemas']['Step'];
export type StoredNetwork = components['schemas']['StoredNetwork'];
export type StoredOutputSchema = components['schemas']['StoredOutputSchema'];
export type StoredRepository = components['schemas']['StoredRepository'];
export type TaskStatus = components['schemas']['TaskStatus'];
export type TeamDetail = components['schemas']['TeamDetail'];
export type TeamItem = components['schemas']['TeamItem'];
export type TeamKey = components['schemas']['TeamKey'];
export type TeamSettings = components['schemas']['TeamSettings'];
export type TestTriggerRequest = components['schemas']['TestTriggerRequest'];
export type TestTriggerResponse = components['schemas']['TestTriggerResponse'];
export type TickOutcome = components['schemas']['TickOutcome'];
export type Timeline = components['schemas']['Timeline'];
export type TimelineEvent = components['schemas']['TimelineEvent'];
export type TimelineType = components['schemas']['TimelineType'];
export type TokenRequest = components['schemas']['TokenRequest'];
export type TokenResponse = components['schemas']['TokenResponse'];
export type TranscriptRequest = components['schemas']['TranscriptRequest'];
export type TriggerAuthors = components['schemas']['TriggerAuthors'];
export type TriggerDelivery = components['schemas']['TriggerDelivery'];
export type TriggerDeliveryDetails = components['schemas']['TriggerDeliveryDetails'];
export type TriggerEvent = components['schemas']['TriggerEvent'];
export type TriggerItem = components['schemas']['TriggerItem'];
export type TriggerOutcome = components['schemas']['TriggerOutcome'];
export type TriggerReply = components['schemas']['TriggerReply'];
export type TriggerVerification = components['schemas']['TriggerVerification'];
export type TrustRuleItem = components['schemas']['TrustRuleItem'];
export type TrustRuleRequest = components['schemas']['TrustRuleRequest'];
export type UnarchiveRunsResponse = components['schemas']['UnarchiveRunsResponse'];
export type UnavailableRepository = components['schemas']['UnavailableRepository'];
export type UpdateEnvironmentRequest = components['schemas']['UpdateEnvironmentRequest'];
export type UpdateFollowupRequest = components['schemas']['UpdateFollowupRequest'];
export type UpdateIdentityRequest = components['schemas']['UpdateIdentityRequest'];
export type UpdateMeRequest = components['schemas']['UpdateMeRequest'];
export type UpdateMemberRequest = components['schemas']['UpdateMemberRequest'];
export type UpdateScheduleRequest = components['schemas']['UpdateScheduleRequest'];
export type UpdateTeamRequest = components['schemas']['UpdateTeamRequest'];
export type UpdateTriggerRequest = components['schemas']['UpdateTriggerRequest'];
export type UpdateWebhookRequest = components['schemas']['UpdateWebhookRequest'];
export type UploadSnapshotRequest = components['schemas']['UploadSnapshotRequest'];
export type UploadSnapshotResponse = components['schemas']['UploadSnapshotResponse'];
export type UploadTarget = components['schemas']['UploadTarget'];
export type UsageBucket = components['schemas']['UsageBucket'];
export type UsageGroup = components['schemas']['UsageGroup'];
export type UsageReport = components['schemas']['UsageReport'];
export type Variables = components['schemas']['Variables'];
export type WaitingFor = components['schemas']['WaitingFor'];
export type WebSessionItem = components['schemas']['WebSessionItem'];
export type WebhookEventType = components['schemas']['WebhookEventType'];
export type WebhookFilter = components['schemas']['WebhookFilter'];
export type WebhookItem = components['schemas']['WebhookItem'];
export type WorkerItem = components['schemas']['WorkerItem'];
export type RunsListParams = components['schemas']['RunsListParams'];
export type RunsCancelParams = components['schemas']['RunsCancelParams'];
export type RunsListFollowupsParams = components['schemas']['RunsListFollowupsParams'];
export type RunsTimelineParams = components['schemas']['RunsTimelineParams'];
export type RunsConversationParams = components['schemas']['RunsConversationParams'];
export type RunsFindByReferenceParams = components['schemas']['RunsFindByReferenceParams'];
export type RunsFindByReferenceResponse = components['schemas']['RunsFindByReferenceResponse'];
export type RunsListEventsParams = components['schemas']['RunsListEventsParams'];
export type RunsResponseResponse = components['schemas']['RunsResponseResponse'];
export type RunsRetrievePublicParams = components['schemas']['RunsRetrievePublicParams'];
export type RunsDownloadPublicArtifactParams = components['schemas']['RunsDownloadPublicArtifactParams'];
export type AuditListParams = components['schemas']['AuditListParams'];
export type UsageRetrieveParams = components['schemas']['UsageRetrieveParams'];
export type ConversationsRetrieveParams = components['schemas']['ConversationsRetrieveParams'];
export type ConversationsTranscriptParams = components['schemas']['ConversationsTranscriptParams'];
export type ArtifactsDownloadUrlParams = components['schemas']['ArtifactsDownloadUrlParams'];
export type AgentsListParams = components['schemas']['AgentsListParams'];
export type WorkersListParams = components['schemas']['WorkersListParams'];
export type SchedulesListParams = components['schemas']['SchedulesListParams'];
export type SchedulesTicksParams = components['schemas']['SchedulesTicksParams'];
export type GithubInstallationsParams = components['schemas']['GithubInstallationsParams'];
export type TriggersListParams = components['schemas']['TriggersListParams'];
export type TriggersDeliveriesParams = components['schemas']['TriggersDeliveriesParams'];
export type IdentitiesListParams = components['schemas']['IdentitiesListParams'];
export type IdentitiesKeysListParams = components['schemas']['IdentitiesKeysListParams'];
export type IdentitiesTrustRulesListParams = components['schemas']['IdentitiesTrustRulesListParams'];
export type EnvironmentsListParams = components['schemas']['EnvironmentsListParams'];
export type EnvironmentsRetrieveParams = components['schemas']['EnvironmentsRetrieveParams'];
export type KeysListParams = components['schemas']['KeysListParams'];
export type WebSessionsEndParams = components['schemas']['WebSessionsEndParams'];
export type WebSessionsListParams = components['schemas']['WebSessionsListParams'];
export type TeamsListParams = components['schemas']['TeamsListParams'];
export type TeamsMembersListParams = components['schemas']['TeamsMembersListParams'];
export type TeamsMembersRemoveParams = components['schemas']['TeamsMembersRemoveParams'];
export type TeamsInvitationsListParams = components['schemas']['TeamsInvitationsListParams'];
export type SecretsListParams = components['schemas']['SecretsListParams'];
export type WebhooksListParams = components['schemas']['WebhooksListParams'];
export type WebhooksDeliveriesParams = components['schemas']['WebhooksDeliveriesParams'];
export type WebhooksRedeliverParams = components['schemas']['WebhooksRedeliverParams'];
export type HarnessSupportGetTranscriptResponse = components['schemas']['HarnessSupportGetTranscriptResponse'];
export type IdentityIssuerConfigurationResponse = components['schemas']['IdentityIssuerConfigurationResponse'];
export type IdentityIssuerKeysResponse = components['schemas']['IdentityIssuerKeysResponse'];
export type DocumentationOpenapiResponse = components['schemas']['DocumentationOpenapiResponse'];
export type DocumentationReferenceParams = components['schemas']['DocumentationReferenceParams'];
