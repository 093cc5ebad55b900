// Made of docs/openapi.json by `npm run clients:generate`; not to be edited.
interface components {
    schemas: {
        /** @description The skills of one name, in whichever repositories. */
        AgentItem: {
            /** @description What the skill is called. */
            name: string;
            /** @description Where there is a skill of this name. */
            variants: components["schemas"]["AgentVariant"][];
        };
        /** @description A skill in one repository. */
        AgentVariant: {
            /** @description `{owner}/{repo}:{path}`: what `skill` and `skill_spec` of a run take. */
            id: string;
            /** @description Empty where the skill is malformed and has none. */
            description: string;
            /** @description The Markdown behind the front matter. */
            base_prompt: string;
            /** @description Where it is. */
            source: {
                /** @description Whose repository it is: the last segment but one of its URL. */
                owner: string;
                /** @description What it is called. */
                name: string;
                /** @description From the root of the repository. */
                skill_path: string;
                /** @description The self-hosted worker that is to carry the run out; absent, or `hosted`: a sandbox of the service. */
                worker_host?: string;
            };
            /** @description Those of the caller's environments whose runs have the repository. */
            environments: {
                /** @description Its id. */
                uid: string;
                /** @description What it is called. */
                name: string;
            }[];
            /** @description When the latest run with this skill was made; null before the first, absent where that was not looked for far enough. */
            last_run_timestamp?: string | null;
            /** @description What is wrong with the file, and in which line. */
            error?: string;
        };
        /** @description The configuration of an agent; what a run shows is the resolved one. */
        AmbientAgentConfig: {
            /** @description What it is called. */
            name?: string;
            /** @description The model that the agent uses. At most 512 bytes in UTF-8. */
            model_id?: string;
            /** @description What the agent is told beside its task. At most 65536 bytes in UTF-8. */
            base_prompt?: string;
            /** @description The environment whose repositories and set-up the run begins with. At most 512 bytes in UTF-8. */
            environment_id?: string;
            /** @description A skill whose instructions come first. At most 512 bytes in UTF-8. Must have the form owner/repo:skill-name or owner/repo:path/to/SKILL.md. */
            skill_spec?: string;
            /** @description Several skills; not together with `skill_spec`. */
            skills?: string[];
            /** @description Tools for the agent: servers of the Model Context Protocol, by name. */
            mcp_servers?: {
                /** @description What it is called. */
                name: string;
                /** @description A shared server, by its id. At most 512 bytes in UTF-8. */
                warp_id?: string;
                /** @description A program that is started in the sandbox. At most 4096 bytes in UTF-8. */
                command?: string;
                /** @description The program's arguments. */
                args?: string[];
                /** @description The program's environment. Values are secrets: answers show `***`. */
                env?: {
                    [key: string]: string;
                };
                /** @description Must be an http or https URL. */
                url?: string;
                headers?: {
                    [key: string]: string;
                };
            }[] | {
                [key: string]: components["schemas"]["MCPServerConfig"];
            };
            /** @description Git repositories that are cloned before the agent begins. */
            repositories?: components["schemas"]["Repository"][];
            /** @description Whether the agent may use a screen. */
            computer_use_enabled?: boolean;
            /** @description Minutes without progress after which the run ends; 10 where it is unset. */
            idle_timeout_minutes?: number;
            /** @description The self-hosted worker that is to carry the run out; absent, or `hosted`: a sandbox of the service. At most 512 bytes in UTF-8. */
            worker_host?: string;
            /** @description What the run and all runs below it may spend on models, in US dollars; a child draws on its parent's where it names none. */
            budget_usd?: number;
            /** @description The program that runs the agent, where it is not the service's own: claude, codex or gemini. */
            harness?: {
                /** @enum {string} */
                type: "default" | "oz" | "claude" | "codex" | "gemini";
                /** @description The model that the agent uses. At most 512 bytes in UTF-8. */
                model_id?: string;
                /** @description How much the model is to think. */
                reasoning_level?: string;
            };
            /** @description Secrets by which another harness signs in. */
            harness_auth_secrets?: {
                /** @description The secret's name. */
                claude_auth_secret_name?: string;
                /** @description The secret's name. */
                codex_auth_secret_name?: string;
            };
            /** @description Whose credentials the run uses. */
            credential_strategy?: ("CREATOR" | "EXECUTOR") | null;
            /** @description Who else may look at the session. */
            session_sharing?: {
                /**
                 * @description What everybody with the link may do.
                 * @enum {string}
                 */
                public_access?: "VIEWER" | "EDITOR";
            };
        };
        /** @description An artifact inside a run. */
        ArtifactItem: {
            /**
             * @description What kind of artifact it is.
             * @constant
             */
            artifact_type: "PLAN";
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            data: {
                /** @description Names the document among those of its run. */
                document_uid: string;
                /** @description The document's name where documents are kept together. */
                notebook_uid?: string;
                /** @description The artifact's id. */
                artifact_uid?: string;
                /** @description What the artifact is called. */
                title?: string;
                /** @description Where it is. */
                url?: string;
            };
        } | {
            /**
             * @description What kind of artifact it is.
             * @constant
             */
            artifact_type: "PULL_REQUEST";
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            data: {
                /** @description Where it is. */
                url: string;
                /** @description The branch that the pull request is to merge. */
                branch: string;
            };
        } | {
            /**
             * @description What kind of artifact it is.
             * @constant
             */
            artifact_type: "SCREENSHOT";
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            data: {
                /** @description The artifact's id. */
                artifact_uid: string;
                /** @description The file's media type. */
                mime_type: string;
                /** @description What it is for. */
                description?: string;
            };
        } | {
            /**
             * @description What kind of artifact it is.
             * @constant
             */
            artifact_type: "FILE";
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            data: {
                /** @description The artifact's id. */
                artifact_uid: string;
                /** @description Where the file stood in the workspace. */
                filepath: string;
                /** @description The file's name. */
                filename: string;
                /** @description The file's media type. */
                mime_type: string;
                /** @description What it is for. */
                description?: string;
                /** @description The file's bytes. */
                size_bytes?: number;
                /** @description What the artifact is called. */
                title?: string;
            };
        } | {
            /**
             * @description What kind of artifact it is.
             * @constant
             */
            artifact_type: "EXTERNAL_REFERENCE";
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            data: {
                /** @description What kind of thing it is elsewhere. */
                reference_type: string;
                /** @description Where it is. */
                url: string;
                /** @description What the artifact is called. */
                title?: string;
                /** @description Labels of the caller's own, to find the run by. */
                metadata?: components["schemas"]["Metadata"];
            };
        };
        /** @description An artifact by itself: a plan with its text, others with a time-limited URL. Those without a body have no such answer. */
        ArtifactResponse: {
            /** @description The artifact's id. */
            artifact_uid: string;
            /**
             * @description What kind of artifact it is.
             * @constant
             */
            artifact_type: "PLAN";
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            data: {
                /** @description Names the document among those of its run. */
                document_uid: string;
                /** @description The document's name where documents are kept together. */
                notebook_uid: string;
                /** @description What the artifact is called. */
                title?: string;
                /** @description Where else it is to be read. */
                url?: string;
                /** @description The document's current text, in Markdown. */
                content: string;
                /**
                 * @description The file's media type.
                 * @constant
                 */
                content_type: "text/markdown";
            };
        } | {
            /** @description The artifact's id. */
            artifact_uid: string;
            /**
             * @description What kind of artifact it is.
             * @constant
             */
            artifact_type: "SCREENSHOT";
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            data: {
                /**
                 * Format: uri
                 * @description A time-limited address; send no credential there.
                 */
                download_url: string;
                /**
                 * Format: date-time
                 * @description Until when the address is good.
                 */
                expires_at: string;
                /** @description The file's media type. */
                content_type: string;
                /** @description What it is for. */
                description?: string;
            };
        } | {
            /** @description The artifact's id. */
            artifact_uid: string;
            /**
             * @description What kind of artifact it is.
             * @constant
             */
            artifact_type: "FILE";
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            data: {
                /**
                 * Format: uri
                 * @description A time-limited address; send no credential there.
                 */
                download_url: string;
                /**
                 * Format: date-time
                 * @description Until when the address is good.
                 */
                expires_at: string;
                /** @description The file's media type. */
                content_type: string;
                /** @description Where the file stood in the workspace. */
                filepath: string;
                /** @description The file's name. */
                filename: string;
                /** @description What the artifact is called. */
                title?: string;
                /** @description What it is for. */
                description?: string;
                /** @description The file's bytes. */
                size_bytes?: number;
            };
        };
        /** @enum {string} */
        ArtifactType: "PLAN" | "PULL_REQUEST" | "SCREENSHOT" | "FILE" | "EXTERNAL_REFERENCE";
        /** @description One block of a message: text, an action, its result, or an event. */
        Block: {
            /** @constant */
            type: "text";
            /** @description What was said. At most 262144 bytes in UTF-8. */
            text: string;
            /** @description The message's id. At most 512 bytes in UTF-8. */
            message_id?: string;
        } | {
            /** @constant */
            type: "action";
            /** @description The action's id. At most 512 bytes in UTF-8. */
            id: string;
            /**
             * @description What kind of action it is.
             * @enum {string}
             */
            category: "command" | "files" | "search" | "integration" | "documents" | "computer" | "review" | "skill";
            /** @description What the action or event is called. */
            name: string;
            /** @description What the action was given. */
            input: unknown;
            /** @description The message's id. At most 512 bytes in UTF-8. */
            message_id?: string;
        } | {
            /** @constant */
            type: "action_result";
            /** @description The action that this is the result of. At most 512 bytes in UTF-8. */
            action_id: string;
            /**
             * @description What kind of action it is.
             * @enum {string}
             */
            category: "command" | "files" | "search" | "integration" | "documents" | "computer" | "review" | "skill";
            /** @description What the action or event is called. */
            name: string;
            /**
             * @description What became of the action.
             * @enum {string}
             */
            state: "running" | "completed" | "failed" | "denied";
            /** @description What came of the action. Large outputs are cut, with a note that says so. */
            output: unknown;
            /** @description The message's id. At most 512 bytes in UTF-8. */
            message_id?: string;
        } | {
            /** @constant */
            type: "event";
            /** @description What the action or event is called. */
            name: string;
            /** @description What the event tells. */
            data: unknown;
            /** @description The message's id. At most 512 bytes in UTF-8. */
            message_id?: string;
        };
        /** @description The body of POST /agent/runs/cancel. */
        CancelRunsRequest: {
            /** @description Which runs; the same as the filters of the list, and at least one. */
            filter: {
                /** @description Runs in one of these states; repeat it for several. */
                state?: components["schemas"]["RunState"][];
                /** @description Runs whose configuration has this name. At most 1024 bytes in UTF-8. */
                name?: string;
                /** @description Runs with this model. At most 512 bytes in UTF-8. */
                model_id?: string;
                /** @description Runs that this person or identity asked for, by uid. At most 512 bytes in UTF-8. */
                creator?: string;
                /** @description Runs that work as this person or identity, by uid. At most 512 bytes in UTF-8. */
                executor?: string;
                /** @description Runs that came about this way (RunSourceType). What is none of them matches nothing. At most 512 bytes in UTF-8. */
                source?: string;
                /** @description Runs that are executed there. */
                execution_location?: components["schemas"]["ExecutionLocation"];
                /**
                 * Format: date-time
                 * @description Runs made after this time. RFC 3339 with an offset.
                 */
                created_after?: string;
                /**
                 * Format: date-time
                 * @description Runs made before this time. RFC 3339 with an offset.
                 */
                created_before?: string;
                /**
                 * Format: date-time
                 * @description Runs that changed after this time. RFC 3339 with an offset.
                 */
                updated_after?: string;
                /** @description Runs in this environment; `empty-environment`: runs without one. At most 512 bytes in UTF-8. */
                environment_id?: string;
                /** @description The same as `skill_spec`. At most 512 bytes in UTF-8. */
                skill?: string;
                /** @description Runs that started from this skill: `owner/repo:name` or `owner/repo:path/to/SKILL.md`. At most 512 bytes in UTF-8. */
                skill_spec?: string;
                /** @description Runs of this schedule, also of one that was deleted. At most 512 bytes in UTF-8. */
                schedule_id?: string;
                /** @description Runs below this one, at any depth. It must exist and be visible. At most 512 bytes in UTF-8. */
                ancestor_run_id?: string;
                /** @description Runs that left such an artifact. */
                artifact_type?: components["schemas"]["ArtifactType"];
                /** @description Runs whose title, prompt or skill has these words, in any order, case and accents aside; longer words may have a typo. */
                q?: string;
                /** @description Runs with these labels: `metadata[ticket]=SHOP-1412`. */
                metadata?: {
                    [key: string]: string;
                };
            };
            /** @description Cancels also what is PENDING, CLAIMED or with a self-hosted worker. */
            force?: boolean;
        };
        /** @description What became of the runs that matched: each was cancelled, or refused with the code that its own cancel would have. */
        CancelRunsResponse: {
            /** @description Runs that the filter matched. */
            matched: number;
            /** @description Runs that were cancelled. */
            cancelled: number;
            /** @description Runs that were not, with the code that each one's own cancel would have. */
            refused: {
                /** @description The run's id. */
                run_id: string;
                error_code: string;
            }[];
            /** @description Whether there may be more: then send the same request again. */
            has_more: boolean;
        };
        ClientEvent: {
            /** @description The event's id. At most 512 bytes in UTF-8. */
            event_uuid: string;
            /**
             * @description What happened.
             * @enum {string}
             */
            event_name: "setup_environment_resolution" | "setup_repo_clone" | "setup_commands" | "setup_mcp_servers" | "setup_skill_loading" | "agent_started" | "checkpoint_saved";
            /**
             * Format: date-time
             * @description When it was said, or happened. RFC 3339 with an offset.
             */
            timestamp: string;
            /** @description More about it, such as `duration_ms` and `is_error`. */
            payload?: {
                /**
                 * Format: date-time
                 * @description When it began. RFC 3339 with an offset.
                 */
                start_ts?: string;
                /**
                 * Format: date-time
                 * @description When it was done. RFC 3339 with an offset.
                 */
                finish_ts?: string;
                /** @description How long it took, in milliseconds. */
                latency_ms?: number;
                /** @description Whether it went wrong. */
                is_error?: boolean;
                /** @description What went wrong. At most 4096 bytes in UTF-8. */
                detail?: string;
            };
        };
        CommitSnapshotRequest: {
            /** @description The snapshot's name within its execution. Must be 1 to 128 of A-Z a-z 0-9 . _ - without two underscores in a row. */
            generation: string;
            /** @description Which of its files are kept. */
            files: string[];
        };
        CommitSnapshotResponse: {
            /** @description The snapshot's name within its execution. */
            generation: string;
        };
        Conversation: {
            /** @description The conversation that the run belongs to, or is to continue. */
            conversation_id: string;
            /** @description Turns, the oldest first. */
            steps: components["schemas"]["Step"][];
            /** @description Where the list goes on. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description Where a conversation leads of which a session is shared with everybody. */
        ConversationRedirect: {
            /** @description The session in which the run is shown. */
            session_id?: string;
        };
        /** @description The body of POST /agent/attachments: what will be uploaded, to the byte. */
        CreateAttachmentRequest: {
            /** @description The file's name, without directories. At most 255 bytes in UTF-8. Must be a file name without directories. */
            file_name: string;
            /** @description The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain. */
            mime_type: string;
            /** @description The file's bytes. */
            size_bytes: number;
            /** @description The file's digest. Must be 64 lower-case hexadecimal digits. */
            sha256: string;
        };
        CreateAttachmentResponse: {
            /** @description The attachment's id. */
            attachment_id: string;
            /** @description Where to upload the bytes; absent once they are there. */
            upload: components["schemas"]["UploadTarget"];
        };
        /** @description The body of POST /agent/environments. `team`: whether the caller's team owns it; true for whoever has one. */
        CreateEnvironmentRequest: {
            /** @description What it is called; unique where it belongs. */
            name: string;
            /** @description Whether it belongs to the team. By default it does, where the caller has one. */
            team?: boolean;
            /** @description What it is for. */
            description?: string | null;
            /** @description The image that its runs work in. Runs are refused with 422 where the deployment has no containers. */
            docker_image?: string | null;
            /** @description Repositories on GitHub that are cloned. */
            github_repos?: {
                /** @description Whose repository it is: the last segment but one of its URL. Must not contain credentials: store them as a secret and name it in token_secret. Must be a name on GitHub. */
                owner: string;
                /** @description Must not contain credentials: store them as a secret and name it in token_secret. Must be the name of a repository. */
                repo: string;
            }[] | null;
            /** @description Git repositories that are cloned before the agent begins. */
            repositories?: components["schemas"]["Repository"][] | null;
            /** @description What is run before the agent begins, in order. */
            setup_commands?: string[] | null;
            /** @description Secrets that its runs may use, by name. */
            secrets?: {
                /** @description What it is called; unique where it belongs. Must match [A-Za-z0-9_][A-Za-z0-9_.-]{0,127}. */
                name: string;
            }[] | null;
        };
        /** @description The body of POST /agent/identities. */
        CreateIdentityRequest: {
            /** @description What the identity is called; unique in its team. */
            name: string;
            /** @description What it is for. */
            description?: string | null;
            /** @description The task, in words. */
            prompt?: string | null;
            /** @description The model of its runs, where they name none. */
            base_model?: string | null;
            /** @description The environment whose repositories and set-up the run begins with. */
            environment_id?: string | null;
            /** @description Several skills; not together with `skill_spec`. */
            skills?: string[] | null;
            /** @description Tools for the agent: servers of the Model Context Protocol, by name. */
            mcp_servers?: ({
                /** @description What the identity is called; unique in its team. */
                name: string;
                /** @description A shared server, by its id. At most 512 bytes in UTF-8. */
                warp_id?: string;
                /** @description A program that is started in the sandbox. At most 4096 bytes in UTF-8. */
                command?: string;
                /** @description The program's arguments. */
                args?: string[];
                /** @description The program's environment. Values are secrets: answers show `***`. */
                env?: {
                    [key: string]: string;
                };
                /** @description Must be an http or https URL. */
                url?: string;
                headers?: {
                    [key: string]: string;
                };
            }[] | {
                [key: string]: components["schemas"]["MCPServerConfig"];
            }) | null;
            /** @description The program that runs the agent, where it is not the service's own: claude, codex or gemini. */
            harness?: {
                /** @enum {string} */
                type?: "default" | "oz" | "claude" | "codex" | "gemini";
                /** @description The model that the agent uses. At most 512 bytes in UTF-8. */
                model_id?: string;
                /** @description How much the model is to think. */
                reasoning_level?: string;
            } | null;
            /** @description The self-hosted worker that is to carry the run out; absent, or `hosted`: a sandbox of the service. */
            worker_host?: string | null;
            /** @description Secrets that its runs may use, by name. */
            secrets?: {
                /** @description What the identity is called; unique in its team. Must match [A-Za-z0-9_][A-Za-z0-9_.-]{0,127}. */
                name: string;
            }[] | null;
            /** @description Whether its keys may start runs on behalf of members. */
            on_behalf_of_enabled?: boolean | null;
            /** @description Whose credentials the run uses. */
            credential_strategy?: ("CREATOR" | "EXECUTOR" | "") | null;
        };
        CreateInvitationRequest: {
            /** @description The person's address. At most 320 bytes in UTF-8. Must be an e-mail address. */
            email: string;
            /** @description What they will be in the team; `member` by default. */
            role?: components["schemas"]["Role"];
        };
        CreateKeyRequest: {
            /** @description What the key is called. */
            name: string;
            /** @description In the future; without it the key is good until it is deleted. */
            expires_at?: string | null;
        };
        /** @description The body of POST /agent/schedules. `prompt` is required unless `agent_config` names a skill. */
        CreateScheduleRequest: {
            /** @description What the schedule is called. */
            name: string;
            /** @description When it fires: five fields of cron, or `@daily` and the like. At most 512 bytes in UTF-8. */
            cron_schedule: string;
            /** @description The task of each run. At most 262144 bytes in UTF-8. */
            prompt?: string;
            /** @description Whether it fires. */
            enabled?: boolean;
            /** @description Whether it belongs to the team. By default it does, where the caller has one. */
            team?: boolean;
            /** @description How its agents are set up. */
            agent_config?: components["schemas"]["AmbientAgentConfig"];
            /** @description The identity that carries the runs out. At most 512 bytes in UTF-8. */
            agent_uid?: string;
            /** @description `normal` works, `plan` only plans, `orchestrate` starts other runs. */
            mode?: components["schemas"]["RunMode"];
            /** @description Labels of the caller's own, to find the run by. */
            metadata?: components["schemas"]["Metadata"];
            /** @description The IANA time zone that the cron is read in; UTC by default. At most 64 bytes in UTF-8. */
            time_zone?: string;
            /** @description What happens at a firing while an earlier run has not ended. */
            overlap?: components["schemas"]["Overlap"];
        };
        CreateSecretRequest: {
            /** @description By what name configurations refer to it. The variable in which commands find the value: none that programs obey, such as PATH or LD_PRELOAD. */
            name: string;
            /** @description The secret itself; no answer ever shows it. At most 4096 bytes in UTF-8. */
            value: string;
        };
        CreateTeamRequest: {
            /** @description What the team is called. */
            name: string;
            /** @description Limits and defaults of the team. */
            settings?: {
                /** @description Identities that are available, the oldest ones. */
                identity_limit?: number | null;
                /** @description Runs that execute at once. */
                concurrency_limit?: number | null;
                /** @description Runs that may wait. */
                queue_limit?: number | null;
                /** @description The model of runs that name none. */
                default_model_id?: string | null;
                /** @description The environment of runs that name none. */
                default_environment_id?: string | null;
                /** @description Always null: a monthly budget is not supported yet, and any other value is refused with 422. */
                budget_usd_month?: number | null;
                /** @description Always null: runs are kept without a limit of time, and any other value is refused with 422. */
                retention_days?: number | null;
            };
        };
        /** @description The account that accepting an invitation without a key creates; `key` is shown in this response and never again. */
        CreatedAccount: {
            /** @description The new user's id. */
            user_uid: string;
            /** @description The team's id. */
            team_uid: string;
            /** @description The user's first API key, shown this once. */
            key: string;
        };
        /** @description A new invitation; `link` is shown in this answer and never again. */
        CreatedInvitation: {
            /** @description The invitation's id. */
            id: string;
            /** @description The person's address. */
            email: string;
            /** @description What they will be in the team. */
            role: components["schemas"]["Role"];
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Until when it is good.
             */
            expires_at: string;
            /** @description The link to send to whom it is for, shown this once. */
            link: string;
        };
        /** @description A new key; `key` is shown in this answer and never again. */
        CreatedKey: {
            /** @description The key's id. */
            uid: string;
            /** @description What the key is called. */
            name: string;
            /** @description The key's last four characters. */
            suffix: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description Who made it. */
            created_by?: components["schemas"]["RunCreatorInfo"];
            /**
             * Format: date-time
             * @description Until when it is good.
             */
            expires_at?: string;
            /**
             * Format: date-time
             * @description When it last changed something, to the hour.
             */
            last_used_at?: string;
            /** @description The key itself, shown this once. */
            key: string;
        };
        DeleteScheduleResponse: {
            /**
             * @description True.
             * @constant
             */
            success: true;
        };
        Empty: Record<string, never>;
        /** @description What an environment is made of. `github_repos` is the part of `repositories` that is on GitHub. */
        EnvironmentConfig: {
            /** @description What it is called; unique where it belongs. */
            name: string;
            /** @description What it is for. */
            description?: string;
            /** @description The image that its runs work in. Runs are refused with 422 where the deployment has no containers. */
            docker_image?: string;
            /** @description Repositories on GitHub that are cloned. */
            github_repos: {
                /** @description Whose repository it is: the last segment but one of its URL. */
                owner: string;
                repo: string;
            }[];
            /** @description Git repositories that are cloned before the agent begins. */
            repositories?: components["schemas"]["StoredRepository"][];
            /** @description What is run before the agent begins, in order. */
            setup_commands: string[];
            /** @description Secrets that its runs may use, by name. */
            secrets?: {
                /** @description What it is called; unique where it belongs. */
                name: string;
            }[];
        };
        /** @description An environment as answers show it; without `last_task_*` for a caller who sees it by its link alone. */
        EnvironmentItem: {
            /** @description The environment's id. */
            uid: string;
            /** @description What it is made of. */
            config: components["schemas"]["EnvironmentConfig"];
            /**
             * Format: date-time
             * @description When it last changed.
             */
            last_updated: string;
            /** @description Whether the run that last got so far could not be set up in it; false again with the next that could. */
            setup_failed: boolean;
            /** @description When a run last began in it; null before the first, and absent where a link alone opens it. */
            last_task_run_timestamp?: string | null;
            /** @description The run that was last made in it. */
            last_task_created?: {
                id: string;
                /** @description What the run is called; made from the prompt's first line where none was given. */
                title: string;
                /** @description Where the run is. */
                state: components["schemas"]["RunState"];
                /**
                 * Format: date-time
                 * @description When it was made.
                 */
                created_at: string;
                /**
                 * Format: date-time
                 * @description When it last changed.
                 */
                updated_at: string;
                /**
                 * Format: date-time
                 * @description When work on it began; null before.
                 */
                started_at?: string;
            };
            /** @description The team or the person that it belongs to. */
            scope: {
                /** @enum {string} */
                type: "Team" | "User";
                /** @description The environment's id. */
                uid: string;
            };
            /** @description Who made it. */
            creator: components["schemas"]["EnvironmentPerson"];
            /** @description Who changed it last. */
            last_editor: components["schemas"]["EnvironmentPerson"];
        };
        /** @description Who made or changed an environment; a caller who sees it by its link alone learns the uid and the display name. */
        EnvironmentPerson: {
            /**
             * @description A person, or an identity; absent where a link alone opens the environment.
             * @enum {string}
             */
            type?: "user" | "service_account";
            /** @description The person's or the identity's id. */
            uid: string;
            /** @description The name that is shown. */
            display_name?: string;
            /** @description The person's address. */
            email?: string;
            /** @description A picture of the person. */
            photo_url?: string;
        };
        /** @description An error answer (RFC 9457, application/problem+json). */
        Problem: {
            /**
             * Format: uri
             * @description Identifies the error code, and opens a page about it.
             */
            type: string;
            /** @description What kind of problem it is, in a few words. */
            title: string;
            /** @description The status of the answer. */
            status: number;
            /** @description What is wrong with this request; names the field. */
            detail?: string;
            /** @description The path of the request. */
            instance: string;
            /** @description The title, with the detail in parentheses where there is one. */
            error: string;
            /** @description One of a closed list; see the pages of errors. */
            error_code: string;
            /** @description Whether the same request may succeed later. */
            retryable: boolean;
            /** @description What to name to whoever runs the service. */
            trace_id?: string;
            /** @description One entry for each field that is wrong. */
            errors?: {
                path: string;
                message: string;
            }[];
        };
        /** @enum {string} */
        ExecutionLocation: "REMOTE" | "LOCAL";
        /** @description A harness of others tells in which format it writes the conversation, such as `claude`. */
        ExternalConversationRequest: {
            /** @description Must be 1 to 64 of A-Z a-z 0-9 . _ -. */
            format: string;
        };
        ExternalConversationResponse: {
            /** @description The conversation that the run belongs to, or is to continue. */
            conversation_id: string;
        };
        FinishTaskRequest: {
            /** @description Whether the task was done. */
            success: boolean;
            /** @description How it went, in a sentence or two. At most 65536 bytes in UTF-8. */
            summary: string;
            /**
             * @description Whose fault it was, where it was not done.
             * @enum {string}
             */
            error_code?: "invalid_request" | "environment_setup_failed" | "operation_not_supported" | "external_authentication_required";
            /** @description True where the agent has asked its user the question that `summary` is: the run is BLOCKED until a follow-up answers it. This project's own addition. */
            blocked?: boolean;
        };
        Followup: {
            /** @description Counts a run's follow-ups, from 1. */
            number: number;
            /** @description What the agent is told. */
            message: string;
            /** @description What to do about the turn that is under way. */
            policy: components["schemas"]["FollowupPolicy"];
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * @description True where the run was cancelled before the follow-up was taken up: it is recorded and not carried out.
             * @constant
             */
            cancelled?: true;
        };
        /**
         * @description What becomes of the turn under way: it ends first, it is broken off, or the follow-up is refused.
         * @enum {string}
         */
        FollowupPolicy: "enqueue" | "interrupt" | "reject";
        /** @description Snapshot files of the latest execution that has ended. */
        HandoffAttachments: {
            /** @description Files beside the prompt, at most 2.9 MiB in all once decoded; larger ones are uploaded first. */
            attachments: {
                /** @description The attachment's id. */
                attachment_id: string;
                /** @description The file's name. */
                filename: string;
                /**
                 * Format: uri
                 * @description A time-limited address; send no credential there.
                 */
                download_url: string;
                /** @description The file's media type. */
                mime_type?: string;
            }[];
        };
        HeartbeatRequest: {
            /** @description The execution that it was part of: one attempt to carry the run out. At most 512 bytes in UTF-8. */
            execution_id: string;
            /** @description The number of the latest follow-up that the harness has kept. */
            followups_stored: number;
        };
        HeartbeatResponse: {
            /** @description What the agent was told since. */
            followups: components["schemas"]["Followup"][];
            /** @description True where the run was cancelled: end everything and say so. */
            cancel: boolean;
            /** @description When to call again. */
            next_heartbeat_seconds: number;
        };
        /** @description An identity as answers show it: its defaults as far as they are set. */
        IdentityItem: {
            /** @description Its id. */
            uid: string;
            /** @description What the identity is called; unique in its team. */
            name: string;
            /** @description Whether it can be used: the team's plan counts its oldest identities first. */
            available: boolean;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updated_at: string;
            /** @description The team or the person that it belongs to. */
            scope: {
                /** @constant */
                type: "Team";
                /** @description Its id. */
                uid: string;
            };
            /** @description What it is for. */
            description?: string;
            /** @description What its runs are told beside their task. */
            prompt?: string;
            /** @description The model of its runs, where they name none. */
            base_model?: string;
            /** @description The environment whose repositories and set-up the run begins with. */
            environment_id?: string;
            /** @description Several skills; not together with `skill_spec`. */
            skills: string[];
            /** @description Tools for the agent: servers of the Model Context Protocol, by name. */
            mcp_servers?: {
                [key: string]: {
                    /** @description A shared server, by its id. At most 512 bytes in UTF-8. */
                    warp_id?: string;
                    /** @description A program that is started in the sandbox. At most 4096 bytes in UTF-8. */
                    command?: string;
                    /** @description The program's arguments. */
                    args?: string[];
                    /** @description The program's environment. Values are secrets: answers show `***`. */
                    env?: {
                        [key: string]: string;
                    };
                    /** @description Must be an http or https URL. */
                    url?: string;
                    headers?: {
                        [key: string]: string;
                    };
                };
            };
            /** @description The program that runs the agent, where it is not the service's own: claude, codex or gemini. */
            harness?: {
                /** @enum {string} */
                type: "default" | "oz" | "claude" | "codex" | "gemini";
                /** @description The model that the agent uses. At most 512 bytes in UTF-8. */
                model_id?: string;
                /** @description How much the model is to think. */
                reasoning_level?: string;
            };
            /** @description The self-hosted worker that is to carry the run out; absent, or `hosted`: a sandbox of the service. */
            worker_host?: string;
            /** @description Secrets that its runs may use, by name. */
            secrets: {
                /** @description What the identity is called; unique in its team. */
                name: string;
            }[];
            /** @description What it remembers from run to run. */
            memory: {
                auto_memory: {
                    /** @description Whether it fires. */
                    enabled: boolean;
                };
                attached_stores: string[];
            };
            /** @description Where its runs are carried out by default. */
            default_runner_uid: string;
            /** @description Whether its keys may start runs on behalf of members. */
            on_behalf_of_enabled?: boolean;
            /**
             * @description Whose credentials the run uses.
             * @enum {string}
             */
            credential_strategy?: "CREATOR" | "EXECUTOR";
        };
        /** @description A secret that the run's environment or identity names: its value, or why the run cannot have it and so ends FAILED. */
        InjectedSecret: {
            /** @description What it is called. */
            name: string;
            value: string;
        } | {
            /** @description What it is called. */
            name: string;
            /** @description Repositories whose skills could not be read, or not all of them; absent where there is none. */
            unavailable: string;
        };
        InvitationItem: {
            /** @description The invitation's id. */
            id: string;
            /** @description The person's address. */
            email: string;
            /** @description What they will be in the team. */
            role: components["schemas"]["Role"];
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Until when it is good.
             */
            expires_at: string;
        };
        /** @description An API key as lists show it. */
        KeyItem: {
            /** @description The key's id. */
            uid: string;
            /** @description What the key is called. */
            name: string;
            /** @description The key's last four characters. */
            suffix: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description The person who created the key; absent on keys from before this was stored. */
            created_by?: components["schemas"]["RunCreatorInfo"];
            /**
             * Format: date-time
             * @description Until when it is good.
             */
            expires_at?: string;
            /**
             * Format: date-time
             * @description When the key last changed something, to the hour; calls that only read are not noted.
             */
            last_used_at?: string;
        };
        ListAgentsResponse: {
            /** @description Skills by name; those of one name together. */
            agents: components["schemas"]["AgentItem"][];
            /** @description Repositories that could not be read; absent where all were. */
            unavailable?: components["schemas"]["UnavailableRepository"][];
            /** @description Where the list goes on. */
            page_info?: components["schemas"]["PageInfo"];
        };
        ListEnvironmentsResponse: {
            /** @description Environments that the caller may use. */
            environments: components["schemas"]["EnvironmentItem"][];
            /** @description Where the list goes on. */
            page_info?: components["schemas"]["PageInfo"];
        };
        ListIdentitiesResponse: {
            /** @description Identities, the oldest first. */
            agents: components["schemas"]["IdentityItem"][];
            /** @description Where the list goes on. */
            page_info?: components["schemas"]["PageInfo"];
        };
        ListInvitationsResponse: {
            /** @description Invitations that wait to be accepted. */
            invitations: components["schemas"]["InvitationItem"][];
            /** @description Where the list goes on. */
            page_info?: components["schemas"]["PageInfo"];
        };
        ListKeysResponse: {
            /** @description API keys; none of them with what opens anything. */
            keys: components["schemas"]["KeyItem"][];
            /** @description Where the list goes on. */
            page_info?: components["schemas"]["PageInfo"];
        };
        ListMembersResponse: {
            /** @description Who is in the team. */
            members: components["schemas"]["MemberItem"][];
            /** @description Where the list goes on. */
            page_info?: components["schemas"]["PageInfo"];
        };
        ListRunsResponse: {
            /** @description One page of runs. */
            runs: components["schemas"]["RunItem"][];
            /** @description Where the list goes on. */
            page_info: components["schemas"]["PageInfo"];
        };
        ListSchedulesResponse: {
            /** @description Schedules by name. */
            schedules: components["schemas"]["ScheduleItem"][];
            /** @description Where the list goes on. */
            page_info?: components["schemas"]["PageInfo"];
        };
        ListSecretsResponse: {
            /** @description Secrets that its runs may use, by name. */
            secrets: components["schemas"]["SecretItem"][];
            /** @description Where the list goes on. */
            page_info?: components["schemas"]["PageInfo"];
        };
        ListTeamsResponse: {
            /** @description Teams, the oldest first. */
            teams: components["schemas"]["TeamItem"][];
            /** @description Where the list goes on. */
            page_info?: components["schemas"]["PageInfo"];
        };
        ListTicksResponse: {
            /** @description Planned firings, the latest first. */
            ticks: {
                /**
                 * Format: date-time
                 * @description When it was to fire.
                 */
                scheduled_at: string;
                /** @description What became of it. */
                outcome: components["schemas"]["TickOutcome"];
                /**
                 * Format: date-time
                 * @description When its outcome was written.
                 */
                recorded_at: string;
                /** @description The run's id. */
                run_id?: string;
                /** @description Why, where it is not `fired`. */
                reason?: string;
            }[];
            /** @description Where the list goes on. */
            page_info?: components["schemas"]["PageInfo"];
        };
        ListWorkersResponse: {
            /** @description Workers that are connected now, by their id. */
            workers: components["schemas"]["WorkerItem"][];
            /** @description Where the list goes on. */
            page_info?: components["schemas"]["PageInfo"];
        };
        /** @description One MCP server: a shared one (`warp_id`), a command, or a URL. Values of `env` and `headers` are secrets. */
        MCPServerConfig: {
            /** @description A shared server, by its id. At most 512 bytes in UTF-8. */
            warp_id?: string;
            /** @description A program that is started in the sandbox. At most 4096 bytes in UTF-8. */
            command?: string;
            /** @description The program's arguments. */
            args?: string[];
            /** @description The program's environment. Values are secrets: answers show `***`. */
            env?: {
                [key: string]: string;
            };
            /** @description The server's address. Must be an http or https URL. */
            url?: string;
            /** @description Headers of each call. Values are secrets: answers show `***`. */
            headers?: {
                [key: string]: string;
            };
        };
        Me: {
            /** @description The person's id. */
            uid: string;
            /** @description The name that is shown. */
            display_name: string;
            /** @description The person's address. */
            email: string;
            /** @description Teams, the oldest first. */
            teams: components["schemas"]["Membership"][];
        };
        /** @description A member as the team sees them. */
        MemberItem: {
            /** @description The person's id. */
            uid: string;
            /** @description The person's address. */
            email: string;
            /** @description The name that is shown. */
            display_name: string;
            /** @description What they are in the team. */
            role: components["schemas"]["Role"];
        };
        /** @description A membership as the member sees it. */
        Membership: {
            /** @description The team's id. */
            uid: string;
            /** @description What the team is called. */
            name: string;
            /** @description What the caller is in it. */
            role: components["schemas"]["Role"];
        };
        Message: {
            /**
             * @description Who speaks.
             * @enum {string}
             */
            role: "user" | "assistant" | "tool" | "system";
            /** @description Text, actions, their results and events, in order. */
            content: components["schemas"]["Block"][];
            /** @description Ids of the messages that this one is made of. */
            message_ids?: string[];
            /** @description The model's request that the message came from. At most 512 bytes in UTF-8. */
            request_id?: string;
            /**
             * Format: date-time
             * @description When it was said, or happened.
             */
            timestamp?: string;
        };
        MessagesRequest: {
            /** @description The execution that it was part of: one attempt to carry the run out. At most 512 bytes in UTF-8. */
            execution_id: string;
            /** @description The number of the first of these messages within the run. */
            first_sequence: number;
            /** @description What was said, in order. */
            messages: components["schemas"]["Message"][];
        };
        MessagesResponse: {
            /** @description The number that the next message must have. */
            next_sequence: number;
        };
        /** @description Metadata: at most 20 keys. That of a run is immutable. */
        Metadata: {
            [key: string]: string;
        };
        /** @description A model that a run may name, unless `disable_reason` says why not. */
        Model: {
            id: string;
            /** @description The name that is shown. */
            display_name: string;
            /**
             * @description Who runs it.
             * @enum {string}
             */
            provider: "OPENAI" | "ANTHROPIC" | "GOOGLE" | "AMAZON" | "LOCAL" | "UNKNOWN";
            /** @description Whether it sees images. */
            vision_supported: boolean;
            /** @description What it is for. */
            description?: string;
            /** @description How much the model thinks unless it is told otherwise, in its provider's words. */
            reasoning_level?: string;
            /** @description What it costs. */
            cost?: {
                /** @description Dollars for a million tokens in. */
                input_per_million_usd: number;
                /** @description Dollars for a million tokens out. */
                output_per_million_usd: number;
            };
            /**
             * @description Why it cannot be used right now; absent where it can.
             * @enum {string}
             */
            disable_reason?: "PROVIDER_OUTAGE" | "OUT_OF_REQUESTS" | "ADMIN_DISABLED" | "REQUIRES_UPGRADE";
        };
        ModelsResponse: {
            /** @description The model of runs that name none. */
            default_model_id: string;
            /** @description The models that a run may name. */
            models: components["schemas"]["Model"][];
        };
        /** @description A short word to the run's user, while the run goes on. */
        NotifyUserRequest: {
            /** @description What the user is told. At most 4096 bytes in UTF-8. */
            message: string;
        };
        /**
         * @description What happens at a firing while an earlier run of the schedule has not ended.
         * @enum {string}
         */
        Overlap: "allow" | "skip" | "cancel_previous";
        /** @description Where a list goes on; `next_cursor` is there where it does. */
        PageInfo: {
            /** @description Whether there is more. */
            has_next_page: boolean;
            /** @description What to pass as `cursor` for the next page; absent on the last. */
            next_cursor?: string;
        };
        /** @description What a removal did with agent keys of the team. */
        RemovedMember: {
            revoked_keys: components["schemas"]["TeamKey"][];
            kept_keys: components["schemas"]["TeamKey"][];
        };
        ReportArtifactRequest: {
            /**
             * @description What kind of artifact it is.
             * @constant
             */
            artifact_type: "PLAN";
            data: {
                /** @description Names the document among those of its run. At most 512 bytes in UTF-8. */
                document_uid?: string;
                /** @description The document's name where documents are kept together. At most 512 bytes in UTF-8. */
                notebook_uid?: string;
                /** @description What the artifact is called. */
                title?: string;
                /** @description Where it is: https, without credentials. At most 2048 bytes in UTF-8. Must be an https URL without credentials. */
                url?: string;
                /** @description The document's whole text, in Markdown. At most 262144 bytes in UTF-8. */
                content: string;
            };
        } | {
            /**
             * @description What kind of artifact it is.
             * @constant
             */
            artifact_type: "PULL_REQUEST";
            data: {
                /** @description Where it is: https, without credentials. At most 2048 bytes in UTF-8. Must be an https URL without credentials. */
                url: string;
                /** @description The branch that the pull request is to merge. At most 256 bytes in UTF-8. */
                branch: string;
            };
        } | {
            /**
             * @description What kind of artifact it is.
             * @constant
             */
            artifact_type: "SCREENSHOT";
            data: {
                /** @description The file's media type. At most 255 bytes in UTF-8. Must be the media type of an image. */
                mime_type: string;
                /** @description The file's bytes. */
                size_bytes: number;
                /** @description The file's digest. Must be 64 hexadecimal digits. */
                sha256: string;
                /** @description What it is for. */
                description?: string;
            };
        } | {
            /**
             * @description What kind of artifact it is.
             * @constant
             */
            artifact_type: "FILE";
            data: {
                /** @description Where the file stood in the workspace. At most 1024 bytes in UTF-8. Must be a relative path without . or .. segments. */
                filepath: string;
                /** @description The file's name. At most 255 bytes in UTF-8. Must be a file name. */
                filename: string;
                /** @description The file's media type. At most 255 bytes in UTF-8. Must be a media type. */
                mime_type: string;
                /** @description The file's bytes. */
                size_bytes: number;
                /** @description The file's digest. Must be 64 hexadecimal digits. */
                sha256: string;
                /** @description What it is for. */
                description?: string;
                /** @description What the artifact is called. */
                title?: string;
            };
        } | {
            /**
             * @description What kind of artifact it is.
             * @constant
             */
            artifact_type: "EXTERNAL_REFERENCE";
            data: {
                /** @description What kind of thing it is elsewhere. */
                reference_type: string;
                /** @description Where it is: https, without credentials. At most 2048 bytes in UTF-8. Must be an https URL without credentials. */
                url: string;
                /** @description What the artifact is called. */
                title?: string;
                /** @description Labels of the caller's own, to find the run by. */
                metadata?: components["schemas"]["Metadata"];
            };
        };
        ReportArtifactResponse: {
            /** @description The artifact's id. */
            artifact_uid: string;
            /** @description Where to upload the bytes; absent once they are there. */
            upload?: components["schemas"]["UploadTarget"];
        };
        ReportShutdownRequest: {
            /** @description What ended the execution; absent where nothing went wrong. */
            error?: {
                /** @description What kind of failure it was. */
                category: string;
                /** @description What happened. At most 4096 bytes in UTF-8. */
                message: string;
            };
        };
        /** @description A Git repository to clone. `path` is the directory in the workspace; the default is the URL's last segment. `token_secret` names a secret of the run whose value opens the repository over https. */
        Repository: {
            /** @description What to clone. At most 2048 bytes in UTF-8, without credentials: `token_secret` names them. */
            url: string;
            /** @description A branch, tag or commit; by default the repository's own. At most 256 bytes in UTF-8. Must be a branch, tag or commit. */
            ref?: string;
            /** @description The directory in the workspace; by default the URL's last segment. At most 256 bytes in UTF-8. Must be a relative path inside the workspace. */
            path?: string;
            token_secret?: string;
        };
        /** @description A token of this execution alone, for the repository with this URL and for no other. */
        RepositoryToken: {
            url: string;
            token: string;
            /**
             * Format: date-time
             * @description Until when it is good.
             */
            expires_at: string;
        };
        ResolvePromptRequest: {
            /** @description The skill to start from; wins over the configuration's. */
            skill?: {
                /** @description What it is called. */
                name: string;
                /** @description Text, actions, their results and events, in order. At most 262144 bytes in UTF-8. */
                content: string;
                /** @description At most 1024 bytes in UTF-8. */
                path?: string;
            };
            /** @description Where the harness will put attachments. At most 1024 bytes in UTF-8. */
            attachments_dir?: string;
        };
        ResolvePromptResponse: {
            /** @description The task, in words. */
            prompt: string;
            /** @description What the agent is told before all else. */
            system_prompt?: string;
            /** @description What the agent is told where it goes on after an interruption. */
            resumption_prompt?: string;
            /** @description All that the harness needs to begin. */
            context?: {
                /** @description The run's id. */
                run_id: string;
                /** @description The execution that it was part of: one attempt to carry the run out. */
                execution_id: string;
                /** @description The conversation that the run belongs to, or is to continue. */
                conversation_id: string;
                /** @description What the run is called; made from the prompt's first line where none was given. */
                title: string;
                /** @description `normal` works, `plan` only plans, `orchestrate` starts other runs. */
                mode: components["schemas"]["RunMode"];
                /** @description The configuration that the run has after all defaults. */
                agent_config: components["schemas"]["ResolvedAgentConfig"];
                /** @description What is run before the agent begins, in order. */
                setup_commands?: string[];
                /** @description Tools for the agent: servers of the Model Context Protocol, by name. */
                mcp_servers?: {
                    [key: string]: {
                        /** @description A shared server, by its id. At most 512 bytes in UTF-8. */
                        warp_id?: string;
                        /** @description A program that is started in the sandbox. At most 4096 bytes in UTF-8. */
                        command?: string;
                        /** @description The program's arguments. */
                        args?: string[];
                        /** @description The program's environment. Values are secrets: answers show `***`. */
                        env?: {
                            [key: string]: string;
                        };
                        /** @description Must be an http or https URL. */
                        url?: string;
                        headers?: {
                            [key: string]: string;
                        };
                    };
                };
                /** @description Secrets that its runs may use, by name. */
                secrets?: components["schemas"]["InjectedSecret"][];
                repository_tokens?: components["schemas"]["RepositoryToken"][];
                /** @description Files beside the prompt, at most 2.9 MiB in all once decoded; larger ones are uploaded first. */
                attachments: {
                    /** @description The attachment's id. */
                    attachment_id: string;
                    /** @description The file's name. */
                    filename: string;
                    /**
                     * Format: uri
                     * @description A time-limited address; send no credential there.
                     */
                    download_url: string;
                    /** @description The file's media type. */
                    mime_type?: string;
                }[];
                /** @description What was said, in order. */
                messages: components["schemas"]["Message"][];
                /** @description How many of the messages, the last ones, are this run's own. */
                own_messages?: number;
                /** @description The number that the next message must have. */
                next_sequence: number;
                /** @description The workspace as an earlier execution left it. */
                checkpoint?: {
                    /** @description The snapshot's name within its execution. */
                    generation: string;
                    files: {
                        /** @description The file's name. */
                        filename: string;
                        /**
                         * Format: uri
                         * @description A time-limited address; send no credential there.
                         */
                        download_url: string;
                        /** @description The file's media type. */
                        mime_type: string;
                        /** @description The file's bytes. */
                        size_bytes: number;
                    }[];
                };
                /** @description What the agent was told since. */
                followups: components["schemas"]["Followup"][];
                /** @description When to call again. */
                next_heartbeat_seconds: number;
            };
        };
        /** @description The configuration as answers show it: every secret value and credential is `***`, and `skill_spec` mirrors the first of `skills`. */
        ResolvedAgentConfig: {
            /** @description What it is called. */
            name?: string;
            /** @description The model that the agent uses. At most 512 bytes in UTF-8. */
            model_id?: string;
            /** @description What the agent is told beside its task. At most 65536 bytes in UTF-8. */
            base_prompt?: string;
            /** @description The environment whose repositories and set-up the run begins with. At most 512 bytes in UTF-8. */
            environment_id?: string;
            /** @description A skill whose instructions come first. At most 512 bytes in UTF-8. Must have the form owner/repo:skill-name or owner/repo:path/to/SKILL.md. */
            skill_spec?: string;
            /** @description Several skills; not together with `skill_spec`. */
            skills?: string[];
            /** @description Tools for the agent: servers of the Model Context Protocol, by name. */
            mcp_servers?: {
                [key: string]: {
                    /** @description A shared server, by its id. At most 512 bytes in UTF-8. */
                    warp_id?: string;
                    /** @description A program that is started in the sandbox. At most 4096 bytes in UTF-8. */
                    command?: string;
                    /** @description The program's arguments. */
                    args?: string[];
                    /** @description The program's environment. Values are secrets: answers show `***`. */
                    env?: {
                        [key: string]: string;
                    };
                    /** @description Must be an http or https URL. */
                    url?: string;
                    headers?: {
                        [key: string]: string;
                    };
                };
            };
            /** @description Git repositories that are cloned before the agent begins. */
            repositories?: components["schemas"]["StoredRepository"][];
            /** @description Whether the agent may use a screen. */
            computer_use_enabled?: boolean;
            /** @description Minutes without progress after which the run ends; 10 where it is unset. */
            idle_timeout_minutes?: number;
            /** @description The self-hosted worker that is to carry the run out; absent, or `hosted`: a sandbox of the service. At most 512 bytes in UTF-8. */
            worker_host?: string;
            /** @description What the run and all runs below it may spend on models, in US dollars; a child draws on its parent's where it names none. */
            budget_usd?: number;
            /** @description The program that runs the agent, where it is not the service's own: claude, codex or gemini. */
            harness?: {
                /** @enum {string} */
                type: "default" | "oz" | "claude" | "codex" | "gemini";
                /** @description The model that the agent uses. At most 512 bytes in UTF-8. */
                model_id?: string;
                /** @description How much the model is to think. */
                reasoning_level?: string;
            };
            /** @description Secrets by which another harness signs in. */
            harness_auth_secrets?: {
                /** @description The secret's name. */
                claude_auth_secret_name?: string;
                /** @description The secret's name. */
                codex_auth_secret_name?: string;
            };
            /** @description Whose credentials the run uses. */
            credential_strategy?: ("CREATOR" | "EXECUTOR") | null;
            /** @description Who else may look at the session. */
            session_sharing?: {
                /**
                 * @description What everybody with the link may do.
                 * @enum {string}
                 */
                public_access?: "VIEWER" | "EDITOR";
            };
        };
        /**
         * @description What a person is in a team.
         * @enum {string}
         */
        Role: "admin" | "member";
        /** @description The body of POST /agent/runs. One of prompt, a skill and conversation_id is required. */
        RunAgentRequest: {
            /** @description The task, in words. At most 262144 bytes in UTF-8. */
            prompt?: string;
            /** @description What the run is called; made from the prompt's first line where none was given. */
            title?: string;
            /** @description How the agent is set up. */
            config?: components["schemas"]["AmbientAgentConfig"];
            /** @description The skill to start from; wins over the configuration's. At most 512 bytes in UTF-8. Must have the form owner/repo:skill-name or owner/repo:path/to/SKILL.md. */
            skill?: string;
            /** @description Whether it belongs to the team. By default it does, where the caller has one. */
            team?: boolean;
            /** @description The identity that carries the run out; for runs of a team. At most 512 bytes in UTF-8. */
            agent_identity_uid?: string;
            /** @description The conversation that the run belongs to, or is to continue. At most 512 bytes in UTF-8. */
            conversation_id?: string;
            /** @description The run that started this one. At most 512 bytes in UTF-8. */
            parent_run_id?: string;
            /** @description Files beside the prompt, at most 2.9 MiB in all once decoded; larger ones are uploaded first. */
            attachments?: ({
                /** @description The file's name, without directories. At most 255 bytes in UTF-8. Must be a file name without directories. */
                file_name: string;
                /** @description The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain. */
                mime_type: string;
                /** @description The file's bytes in base64. */
                data: string;
            } | {
                /** @description A file that was uploaded before. At most 512 bytes in UTF-8. */
                attachment_id: string;
            })[];
            /** @description The older name of `attachments`. */
            images?: {
                /** @description The file's bytes in base64. */
                data: string;
                /** @description The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain. */
                mime_type: string;
            }[];
            /** @description Whether somebody is there to answer the agent's questions. */
            interactive?: boolean;
            /** @description `normal` works, `plan` only plans, `orchestrate` starts other runs. */
            mode?: components["schemas"]["RunMode"];
            /** @description Labels of the caller's own, to find the run by. */
            metadata?: components["schemas"]["Metadata"];
            /** @description The member (uid or e-mail) for whom an agent asks; agent keys only, where the identity allows it. At most 512 bytes in UTF-8. */
            on_behalf_of?: string;
            /** @description `REMOTE`: in a sandbox of the service or a worker; `LOCAL`: by the caller itself. */
            execution_location?: components["schemas"]["ExecutionLocation"];
        };
        RunAgentResponse: {
            /** @description The run's id. */
            run_id: string;
            /** @description The same value as `run_id`, by its older name. */
            task_id: string;
            /** @description Where the run is: `QUEUED` for a new one. */
            state: components["schemas"]["RunState"];
            /** @description True where the run waits because as many as allowed are at work. */
            at_capacity?: boolean;
            /** @description The key of a run that the caller executes itself; shown this once. */
            run_key?: string;
        };
        RunCreatorInfo: {
            /**
             * @description A person, or an identity.
             * @enum {string}
             */
            type: "user" | "service_account";
            /** @description The person's or the identity's id. */
            uid: string;
            /** @description The name that is shown. */
            display_name?: string;
            /** @description The person's address. */
            email?: string;
            /** @description A picture of the person. */
            photo_url?: string;
        };
        /** @description One entry of a run's gapless sequence: a timeline event, or a batch of messages. */
        RunEvent: {
            /** @description The event's number within its run, from 1, without gaps. */
            sequence: number;
            /**
             * @description What kind of event it is.
             * @enum {string}
             */
            type: "run_created" | "run_queued" | "run_pending" | "run_claimed" | "worker_container_ready" | "setup_environment_resolution" | "setup_repo_clone" | "setup_commands" | "setup_mcp_servers" | "setup_skill_loading" | "agent_started" | "followup_received" | "checkpoint_saved" | "execution_lost" | "run_succeeded" | "run_failed" | "run_errored" | "run_blocked" | "run_cancelled" | "run_stopped" | "artifact_created" | "user_notified" | "messages";
            /**
             * Format: date-time
             * @description When it happened.
             */
            occurred_at: string;
            /** @description The event's own members. */
            data: {
                [key: string]: unknown;
            };
        };
        RunEvents: {
            /** @description In order. */
            events: components["schemas"]["RunEvent"][];
            /** @description What to pass as `after` to go on. */
            next: number;
            /** @description Whether the run has ended and nothing comes after these events. */
            ended: boolean;
        };
        RunFollowupRequest: {
            /** @description What to tell the agent. May be absent where the run has ended: it goes on from there. At most 262144 bytes in UTF-8. */
            message?: string;
            /** @description `normal` works, `plan` only plans, `orchestrate` starts other runs. */
            mode?: components["schemas"]["RunMode"];
            /** @description What to do about the turn that is under way. */
            policy?: components["schemas"]["FollowupPolicy"];
        };
        /** @description One run as answers show it. */
        RunItem: {
            /** @description The run's id. */
            run_id: string;
            /** @description The same value as `run_id`, by its older name. */
            task_id: string;
            /** @description What the run is called; made from the prompt's first line where none was given. */
            title: string;
            /** @description Where the run is. */
            state: components["schemas"]["RunState"];
            /** @description The task, in words. */
            prompt: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updated_at: string;
            /** @description When work on it began; null before. */
            started_at?: string | null;
            /** @description Why the run ended as it did, what it asks where it is BLOCKED, who cancelled it and why. */
            status_message?: components["schemas"]["RunStatusMessage"];
            /** @description How the run came about. */
            source?: components["schemas"]["RunSourceType"];
            /** @description `REMOTE`: in a sandbox of the service or a worker; `LOCAL`: by the caller itself. */
            execution_location?: components["schemas"]["ExecutionLocation"];
            /** @description The schedule that fired the run. */
            schedule?: components["schemas"]["RunSchedule"];
            /** @description The session in which the run is shown. */
            session_id?: string;
            /** @description The page that shows the run. */
            session_link?: string;
            /** @description What set the run off, where it came from an integration. */
            trigger_url?: string;
            /** @description Who asked for the run. */
            creator?: components["schemas"]["RunCreatorInfo"];
            /** @description As whom the run works; often its creator. */
            executor?: components["schemas"]["RunCreatorInfo"];
            /** @description What the run has used so far. */
            request_usage?: {
                /** @description Dollars for models. */
                inference_cost?: number;
                /** @description Dollars for computing. */
                compute_cost?: number;
                /** @description Dollars for the platform. */
                platform_cost?: number;
                /** @description Tokens in and out, of all models. */
                total_tokens?: number;
            };
            /** @description The configuration that the run has after all defaults. */
            agent_config?: components["schemas"]["ResolvedAgentConfig"];
            /** @description The skill that the run started from. */
            agent_skill?: {
                /** @description What it is called. */
                name?: string;
                /** @description What it is for. */
                description?: string;
                /** @description The skill's file in its repository. */
                full_path?: string;
                /** @description The skill's id, where it came with the service. */
                bundled_skill_id?: string;
            };
            /** @description The conversation that the run belongs to, or is to continue. */
            conversation_id?: string;
            /** @description The run that started this one. */
            parent_run_id?: string;
            /** @description Whether a sandbox works on the run right now. */
            is_sandbox_running?: boolean;
            /** @description Whether runs of this kind can be cancelled; false where it is executed elsewhere. */
            is_run_type_cancellable?: boolean;
            /** @description How long it was worked on, as an ISO 8601 duration. */
            run_time?: string;
            /** @description Labels of the caller's own, to find the run by. */
            metadata?: components["schemas"]["Metadata"];
            /** @description What the run has left behind. */
            artifacts?: components["schemas"]["ArtifactItem"][];
            /** @description The team or the person that it belongs to. */
            scope?: {
                /** @enum {string} */
                type: "User" | "Team";
                /** @description Its id. */
                uid?: string;
            };
        };
        /** @enum {string} */
        RunMode: "normal" | "plan" | "orchestrate";
        /** @description The schedule that a run was fired by, as it was then. */
        RunSchedule: {
            /** @description The schedule's id. */
            schedule_id: string;
            /** @description The schedule's name. */
            schedule_name: string;
            /** @description When it fires: five fields of cron, or `@daily` and the like. */
            cron_schedule: string;
        };
        /** @enum {string} */
        RunSourceType: "API" | "CLI" | "LOCAL" | "SCHEDULED_AGENT" | "WEB_APP" | "GITHUB_ACTION" | "SLACK" | "LINEAR" | "CLOUD_MODE" | "JIRA" | "GITHUB_WEBHOOK" | "GITLAB_WEBHOOK" | "ORCHESTRATION";
        /** @enum {string} */
        RunState: "QUEUED" | "PENDING" | "CLAIMED" | "INPROGRESS" | "SUCCEEDED" | "FAILED" | "ERROR" | "BLOCKED" | "CANCELLED";
        RunStatusMessage: {
            /** @description One sentence. */
            message: string;
            /** @description The error's code. */
            error_code?: string;
            /** @description Whether the same run may succeed later. */
            retryable?: boolean;
        };
        /** @description A schedule as answers show it. */
        ScheduleItem: {
            /** @description The schedule's id. */
            id: string;
            /** @description What the schedule is called. */
            name: string;
            /** @description When it fires: five fields of cron, or `@daily` and the like. */
            cron_schedule: string;
            /** @description The IANA time zone that the cron is read in; UTC by default. */
            time_zone: string;
            /** @description What happens at a firing while an earlier run has not ended. */
            overlap: components["schemas"]["Overlap"];
            /** @description Whether it fires. */
            enabled: boolean;
            /** @description The task of each run. */
            prompt: string;
            /** @description `normal` works, `plan` only plans, `orchestrate` starts other runs. */
            mode: components["schemas"]["RunMode"];
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updated_at: string;
            /** @description The configuration that the run has after all defaults. */
            agent_config?: components["schemas"]["ResolvedAgentConfig"];
            /** @description What the environment that the configuration names is made of. */
            environment?: components["schemas"]["EnvironmentConfig"];
            /** @description The identity that carries the runs out. */
            agent_uid?: string;
            /** @description Who made it. */
            created_by?: components["schemas"]["RunCreatorInfo"];
            /** @description Who changed it last. */
            updated_by?: components["schemas"]["RunCreatorInfo"];
            /** @description Why the latest firing made no run; null where it did. */
            last_spawn_error: string | null;
            /** @description Its latest and its next firing. */
            history: {
                /** @description The latest firing; null before the first. */
                last_ran: string | null;
                /** @description The next firing; null while it is paused. */
                next_run: string | null;
            };
            /** @description Its ten latest runs. */
            recent_runs?: {
                /** @description The run's id. */
                run_id: string;
                /** @description Where the run is. */
                state: components["schemas"]["RunState"];
                /**
                 * Format: date-time
                 * @description When it was made.
                 */
                created_at: string;
            }[];
            /** @description The team or the person that it belongs to. */
            scope?: {
                /** @enum {string} */
                type: "User" | "Team";
                /** @description Its id. */
                uid?: string;
            };
            /** @description Labels of the caller's own, to find the run by. */
            metadata?: components["schemas"]["Metadata"];
        };
        /** @description A secret as answers show it: never its value. */
        SecretItem: {
            /** @description By what name configurations refer to it. */
            name: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            created_at: string;
            /** @description The team or the person that it belongs to. */
            scope: {
                /** @constant */
                type: "Team";
                /** @description Its id. */
                uid: string;
            };
        };
        /** @description Where a session leads that is shared with everybody. */
        SessionRedirect: {
            /** @description The conversation that the run belongs to, or is to continue. */
            conversation_id?: string;
        };
        /** @description With whom an environment is shared: one person, or whoever has the link. Must have exactly one of user_uid and link. */
        ShareRequest: {
            /** @description The person it is shared with. At most 512 bytes in UTF-8. */
            user_uid?: string;
            /**
             * @description The link to send to whom it is for, shown this once.
             * @constant
             */
            link?: true;
        };
        ShareResponse: {
            /** @description The link to send to whom it is for, shown this once. */
            link?: string;
        };
        Step: {
            /** @description The turn's id. */
            id: string;
            /** @description What the turn was about. */
            description?: string;
            /** @description How it went, in a sentence or two. */
            summary?: string;
            /**
             * Format: date-time
             * @description When work on it began; null before.
             */
            started_at?: string;
            /**
             * Format: date-time
             * @description When it was done.
             */
            completed_at?: string;
            /** @description What was said, in order. */
            messages: components["schemas"]["Message"][];
            /** @description Work that was delegated in this turn. */
            steps: components["schemas"]["Step"][];
        };
        /** @description A repository as it is stored and shown. */
        StoredRepository: {
            /** @description What is cloned; a credential in it is shown as `***`. At most 2048 bytes in UTF-8. Must be an https, ssh or file URL. */
            url: string;
            /** @description A branch, tag or commit; by default the repository's own. At most 256 bytes in UTF-8. Must be a branch, tag or commit. */
            ref?: string;
            /** @description The directory in the workspace; by default the URL's last segment. At most 256 bytes in UTF-8. Must be a relative path inside the workspace. */
            path?: string;
            token_secret?: string;
        };
        TeamItem: {
            /** @description The team's id. */
            uid: string;
            /** @description What the team is called. */
            name: string;
            /** @description Limits and defaults of the team. */
            settings: components["schemas"]["TeamSettings"];
        };
        /** @description An agent key of a team. */
        TeamKey: {
            /** @description The key's id. */
            uid: string;
            /** @description The key's name. */
            name: string;
            /** @description The identity that the key is for. */
            identity_uid: string;
        };
        /** @description Settings of a team with all defaults filled in; null where there is neither a value nor a default. */
        TeamSettings: {
            /** @description Identities that are available, the oldest ones. */
            identity_limit: number;
            /** @description Runs that execute at once. */
            concurrency_limit: number;
            /** @description Runs that may wait. */
            queue_limit: number;
            /** @description The model of runs that name none. */
            default_model_id: string | null;
            /** @description The environment of runs that name none. */
            default_environment_id: string | null;
            /** @description Always null: a monthly budget is not supported yet, and any other value is refused with 422. */
            budget_usd_month: number | null;
            /** @description Always null: runs are kept without a limit of time, and any other value is refused with 422. */
            retention_days: number | null;
        };
        /**
         * @description What became of a planned firing.
         * @enum {string}
         */
        TickOutcome: "fired" | "skipped" | "late" | "failed";
        Timeline: {
            /** @description In order. */
            events: components["schemas"]["TimelineEvent"][];
            /** @description Where the list goes on. */
            page_info?: components["schemas"]["PageInfo"];
        };
        TimelineEvent: {
            /** @description The event's id. */
            event_uuid: string;
            /** @description The run's id. */
            run_id: string;
            /** @description What happened. */
            event_type: components["schemas"]["TimelineType"];
            /**
             * Format: date-time
             * @description When it happened.
             */
            occurred_at: string;
            /** @description The execution that it was part of: one attempt to carry the run out. */
            execution_id?: string;
            /** @description More about it, such as `duration_ms` and `is_error`. */
            payload?: {
                [key: string]: unknown;
            };
        };
        /** @enum {string} */
        TimelineType: "run_created" | "run_queued" | "run_pending" | "run_claimed" | "worker_container_ready" | "setup_environment_resolution" | "setup_repo_clone" | "setup_commands" | "setup_mcp_servers" | "setup_skill_loading" | "agent_started" | "followup_received" | "checkpoint_saved" | "execution_lost" | "run_succeeded" | "run_failed" | "run_errored" | "run_blocked" | "run_cancelled" | "run_stopped" | "artifact_created";
        /** @description With length and checksum the upload is bound to them, else to a greatest length. */
        TranscriptRequest: {
            /** @description The conversation that the run belongs to, or is to continue. At most 512 bytes in UTF-8. */
            conversation_id: string;
            /** @description The file's bytes. */
            size_bytes?: number;
            /** @description The file's digest. Must be 64 hexadecimal digits. */
            sha256?: string;
        };
        /** @description A repository whose skills could not be read, or not all of them. */
        UnavailableRepository: {
            /** @description Whose repository it is: the last segment but one of its URL. */
            owner: string;
            /** @description What the repository is called. */
            name: string;
            /** @description The environments that it belongs to. */
            environments: {
                /** @description Its id. */
                uid: string;
                /** @description What the repository is called. */
                name: string;
            }[];
            /** @description Why it could not be read. */
            error: string;
        };
        /** @description The body of PUT /agent/environments/{uid}: what is absent or null stays as it was. */
        UpdateEnvironmentRequest: {
            /** @description What it is called; unique where it belongs. */
            name?: string | null;
            /** @description What it is for. */
            description?: string | null;
            /** @description The image that its runs work in. Runs are refused with 422 where the deployment has no containers. */
            docker_image?: string | null;
            /** @description Repositories on GitHub that are cloned. */
            github_repos?: {
                /** @description Whose repository it is: the last segment but one of its URL. Must not contain credentials: store them as a secret and name it in token_secret. Must be a name on GitHub. */
                owner: string;
                /** @description Must not contain credentials: store them as a secret and name it in token_secret. Must be the name of a repository. */
                repo: string;
            }[] | null;
            /** @description Git repositories that are cloned before the agent begins. */
            repositories?: components["schemas"]["Repository"][] | null;
            /** @description What is run before the agent begins, in order. */
            setup_commands?: string[] | null;
            /** @description Secrets that its runs may use, by name. */
            secrets?: {
                /** @description What it is called; unique where it belongs. Must match [A-Za-z0-9_][A-Za-z0-9_.-]{0,127}. */
                name: string;
            }[] | null;
        };
        /** @description The body of PUT /agent/identities/{uid}: what is absent or null stays as it was. */
        UpdateIdentityRequest: {
            /** @description What the identity is called; unique in its team. */
            name?: string | null;
            /** @description What it is for. */
            description?: string | null;
            /** @description The task, in words. */
            prompt?: string | null;
            /** @description The model of its runs, where they name none. */
            base_model?: string | null;
            /** @description The environment whose repositories and set-up the run begins with. */
            environment_id?: string | null;
            /** @description Several skills; not together with `skill_spec`. */
            skills?: string[] | null;
            /** @description Tools for the agent: servers of the Model Context Protocol, by name. */
            mcp_servers?: ({
                /** @description What the identity is called; unique in its team. */
                name: string;
                /** @description A shared server, by its id. At most 512 bytes in UTF-8. */
                warp_id?: string;
                /** @description A program that is started in the sandbox. At most 4096 bytes in UTF-8. */
                command?: string;
                /** @description The program's arguments. */
                args?: string[];
                /** @description The program's environment. Values are secrets: answers show `***`. */
                env?: {
                    [key: string]: string;
                };
                /** @description Must be an http or https URL. */
                url?: string;
                headers?: {
                    [key: string]: string;
                };
            }[] | {
                [key: string]: components["schemas"]["MCPServerConfig"];
            }) | null;
            /** @description The program that runs the agent, where it is not the service's own: claude, codex or gemini. */
            harness?: {
                /** @enum {string} */
                type?: "default" | "oz" | "claude" | "codex" | "gemini";
                /** @description The model that the agent uses. At most 512 bytes in UTF-8. */
                model_id?: string;
                /** @description How much the model is to think. */
                reasoning_level?: string;
            } | null;
            /** @description The self-hosted worker that is to carry the run out; absent, or `hosted`: a sandbox of the service. */
            worker_host?: string | null;
            /** @description Secrets that its runs may use, by name. */
            secrets?: {
                /** @description What the identity is called; unique in its team. Must match [A-Za-z0-9_][A-Za-z0-9_.-]{0,127}. */
                name: string;
            }[] | null;
            /** @description Whether its keys may start runs on behalf of members. */
            on_behalf_of_enabled?: boolean | null;
            /** @description Whose credentials the run uses. */
            credential_strategy?: ("CREATOR" | "EXECUTOR" | "") | null;
        };
        /** @description The address belongs to the sign-in: it may be sent along as it is, and not changed here. */
        UpdateMeRequest: {
            /** @description The name that is shown. */
            display_name?: string | null;
            /** @description The person's address. */
            email?: string | null;
        };
        UpdateMemberRequest: {
            /** @description What they are to be in the team. */
            role: components["schemas"]["Role"];
        };
        /** @description The body of PUT /agent/schedules/{id}. What is optional stays as it was where it is absent. */
        UpdateScheduleRequest: {
            /** @description What the schedule is called. */
            name: string;
            /** @description When it fires: five fields of cron, or `@daily` and the like. At most 512 bytes in UTF-8. */
            cron_schedule: string;
            /** @description The task of each run. At most 262144 bytes in UTF-8. */
            prompt?: string;
            /** @description Whether it fires. */
            enabled: boolean;
            /** @description How its agents are set up; absent: as before. */
            agent_config?: components["schemas"]["AmbientAgentConfig"];
            /** @description The identity that carries the runs out. At most 512 bytes in UTF-8. */
            agent_uid?: string;
            /** @description `normal` works, `plan` only plans, `orchestrate` starts other runs. */
            mode?: components["schemas"]["RunMode"];
            /** @description Labels of the caller's own, to find the run by. */
            metadata?: components["schemas"]["Metadata"];
            /** @description The IANA time zone that the cron is read in; UTC by default. At most 64 bytes in UTF-8. */
            time_zone?: string;
            /** @description What happens at a firing while an earlier run has not ended. */
            overlap?: components["schemas"]["Overlap"];
        };
        UpdateTeamRequest: {
            /** @description What it is called. */
            name?: string | null;
            /** @description Limits and defaults of the team. */
            settings?: {
                /** @description Identities that are available, the oldest ones. */
                identity_limit?: number | null;
                /** @description Runs that execute at once. */
                concurrency_limit?: number | null;
                /** @description Runs that may wait. */
                queue_limit?: number | null;
                /** @description The model of runs that name none. */
                default_model_id?: string | null;
                /** @description The environment of runs that name none. */
                default_environment_id?: string | null;
                /** @description Always null: a monthly budget is not supported yet, and any other value is refused with 422. */
                budget_usd_month?: number | null;
                /** @description Always null: runs are kept without a limit of time, and any other value is refused with 422. */
                retention_days?: number | null;
            } | null;
        };
        UploadSnapshotRequest: {
            /** @description The snapshot's files. */
            files: {
                /** @description The file's name. At most 255 bytes in UTF-8. Must be a file name. */
                filename: string;
                /** @description The file's media type. At most 255 bytes in UTF-8. Must be a media type. */
                mime_type: string;
                /** @description The file's bytes. */
                size_bytes?: number;
                /** @description The file's digest. Must be 64 hexadecimal digits. */
                sha256?: string;
            }[];
            /**
             * @description Whether the files are committed as a checkpoint, or are the last that an execution leaves.
             * @enum {string}
             */
            mode?: "legacy" | "checkpoint";
            /** @description The snapshot's name within its execution. Must be 1 to 128 of A-Z a-z 0-9 . _ - without two underscores in a row. */
            generation?: string;
        };
        /** @description Where to upload each file, in the order of the request. */
        UploadSnapshotResponse: {
            /** @description Where to upload each file, in the order of the request. */
            uploads: components["schemas"]["UploadTarget"][];
        };
        /** @description Where and how to upload the bytes; lives 10 minutes and is bound to length and checksum. */
        UploadTarget: {
            /**
             * Format: uri
             * @description A time-limited address; send no credential there.
             */
            url: string;
            /**
             * @description How to send them.
             * @enum {string}
             */
            method: "PUT" | "POST";
            /** @description Headers to send with them. */
            headers: {
                [key: string]: string;
            } | null;
            /** @description Fields of a form, in this order, where the method is POST. */
            fields?: {
                /** @description What it is called. */
                name: string;
                value: {
                    /** @constant */
                    kind: "static";
                    value: string;
                } | {
                    /** @constant */
                    kind: "content_crc32c";
                } | {
                    /** @constant */
                    kind: "content_data";
                };
            }[];
        };
        /** @description A self-hosted worker that is connected; several connections may share its id. */
        WorkerItem: {
            /** @description The id under which it connected: what `worker_host` of a configuration takes. */
            worker_host: string;
            /** @description Its connections; several may share an id. */
            connection_count: number;
            /**
             * Format: date-time
             * @description When the oldest of its connections was made.
             */
            connected_at: string;
            /**
             * Format: date-time
             * @description When it was last heard of.
             */
            last_seen_at: string;
        };
        RunsCreateParams: {
            /**
             * @description `true` is refused with 422: checking a run without creating it is not supported yet.
             * @default false
             */
            dry_run?: boolean;
        };
        RunsListParams: {
            /**
             * @description How many runs at most.
             * @default 20
             */
            limit?: number;
            /** @description `page_info.next_cursor` of the page before. */
            cursor?: string;
            /**
             * @description What to sort by. `agent` is the skill, and runs without one come last in both directions.
             * @default updated_at
             * @enum {string}
             */
            sort_by?: "updated_at" | "created_at" | "title" | "agent";
            /**
             * @description The direction.
             * @default desc
             * @enum {string}
             */
            sort_order?: "asc" | "desc";
            /** @description Runs in one of these states; repeat it for several. */
            state?: components["schemas"]["RunState"][];
            /** @description Runs whose configuration has this name. */
            name?: string;
            /** @description Runs with this model. */
            model_id?: string;
            /** @description Runs that this person or identity asked for, by uid. */
            creator?: string;
            /** @description Runs that work as this person or identity, by uid. */
            executor?: string;
            /** @description Runs that came about this way (RunSourceType). What is none of them matches nothing. */
            source?: string;
            /**
             * @description Runs that are executed there.
             * @enum {string}
             */
            execution_location?: "REMOTE" | "LOCAL";
            /**
             * Format: date-time
             * @description Runs made after this time.
             */
            created_after?: string;
            /**
             * Format: date-time
             * @description Runs made before this time.
             */
            created_before?: string;
            /**
             * Format: date-time
             * @description Runs that changed after this time.
             */
            updated_after?: string;
            /** @description Runs in this environment; `empty-environment`: runs without one. */
            environment_id?: string;
            /** @description The same as `skill_spec`. */
            skill?: string;
            /** @description Runs that started from this skill: `owner/repo:name` or `owner/repo:path/to/SKILL.md`. */
            skill_spec?: string;
            /** @description Runs of this schedule, also of one that was deleted. */
            schedule_id?: string;
            /** @description Runs below this one, at any depth. It must exist and be visible. */
            ancestor_run_id?: string;
            /** @description Runs that left such an artifact. */
            artifact_type?: components["schemas"]["ArtifactType"];
            /** @description Runs whose title, prompt or skill has these words, in any order, case and accents aside; longer words may have a typo. */
            q?: string;
            /** @description Runs with these labels: `metadata[ticket]=SHOP-1412`. */
            metadata?: {
                [key: string]: string;
            };
        };
        RunsCancelParams: {
            /**
             * @description Cancels also what is PENDING, CLAIMED or with a self-hosted worker.
             * @default false
             */
            force?: boolean;
        };
        RunsTimelineParams: {
            /** @description How many at most. By default all, up to 500 or 4 MB. */
            limit?: number;
            /** @description `page_info.next_cursor` of the page before. */
            cursor?: string;
        };
        RunsConversationParams: {
            /** @description How many at most. By default all, up to 500 or 4 MB. */
            limit?: number;
            /** @description `page_info.next_cursor` of the page before. */
            cursor?: string;
        };
        RunsTranscriptResponse: {
            /**
             * Format: uri
             * @description A time-limited address; send no credential there.
             */
            download_url: string;
            /**
             * Format: date-time
             * @description Until when the address is good.
             */
            expires_at: string;
        };
        RunsListEventsParams: {
            /**
             * @description Events after this number.
             * @default 0
             */
            after?: number;
            /**
             * @description Seconds to wait for an event, where there is none yet.
             * @default 0
             */
            wait?: number;
        };
        RunsResponseResponse: {
            /** @description The agent's last words. */
            text: string;
            /** @description Where the run is. */
            state: components["schemas"]["RunState"];
            /** @description What the run has left behind. */
            artifacts: components["schemas"]["ArtifactItem"][];
        };
        ConversationsRetrieveParams: {
            /** @description How many at most. By default all, up to 500 or 4 MB. */
            limit?: number;
            /** @description `page_info.next_cursor` of the page before. */
            cursor?: string;
        };
        AgentsListParams: {
            /** @description How many at most. By default all, up to 500 or 4 MB. */
            limit?: number;
            /** @description `page_info.next_cursor` of the page before. */
            cursor?: string;
            /** @description Skills of this repository alone: `owner/repo`, or its URL without a credential. */
            repo?: string;
            /** @description The token of a shared link, which opens an environment of others. */
            link?: string;
            /**
             * @description Looks into the repositories again, however short ago that was.
             * @default false
             */
            refresh?: boolean;
            /**
             * @description Also skills that are malformed, with what is wrong in `error`.
             * @default false
             */
            include_malformed_skills?: boolean;
            /**
             * @description What to sort by. `last_run`: the latest first, those that never ran last.
             * @default name
             * @enum {string}
             */
            sort_by?: "name" | "last_run";
        };
        WorkersListParams: {
            /** @description How many at most. By default all, up to 500 or 4 MB. */
            limit?: number;
            /** @description `page_info.next_cursor` of the page before. */
            cursor?: string;
        };
        SchedulesListParams: {
            /** @description How many at most. By default all, up to 500 or 4 MB. */
            limit?: number;
            /** @description `page_info.next_cursor` of the page before. */
            cursor?: string;
        };
        SchedulesTicksParams: {
            /** @description How many at most. By default all, up to 500 or 4 MB. */
            limit?: number;
            /** @description `page_info.next_cursor` of the page before. */
            cursor?: string;
        };
        IdentitiesListParams: {
            /** @description How many at most. By default all, up to 500 or 4 MB. */
            limit?: number;
            /** @description `page_info.next_cursor` of the page before. */
            cursor?: string;
        };
        IdentitiesKeysListParams: {
            /** @description How many at most. By default all, up to 500 or 4 MB. */
            limit?: number;
            /** @description `page_info.next_cursor` of the page before. */
            cursor?: string;
        };
        EnvironmentsListParams: {
            /** @description How many at most. By default all, up to 500 or 4 MB. */
            limit?: number;
            /** @description `page_info.next_cursor` of the page before. */
            cursor?: string;
            /**
             * @description What to sort by.
             * @enum {string}
             */
            sort_by?: "name" | "last_updated";
            /** @description The token of a shared link, which opens an environment of others. */
            link?: string;
        };
        EnvironmentsRetrieveParams: {
            /** @description The token of a shared link, which opens an environment of others. */
            link?: string;
        };
        KeysListParams: {
            /** @description How many at most. By default all, up to 500 or 4 MB. */
            limit?: number;
            /** @description `page_info.next_cursor` of the page before. */
            cursor?: string;
        };
        TeamsListParams: {
            /** @description How many at most. By default all, up to 500 or 4 MB. */
            limit?: number;
            /** @description `page_info.next_cursor` of the page before. */
            cursor?: string;
        };
        TeamsMembersListParams: {
            /** @description How many at most. By default all, up to 500 or 4 MB. */
            limit?: number;
            /** @description `page_info.next_cursor` of the page before. */
            cursor?: string;
        };
        TeamsMembersRemoveParams: {
            /**
             * @description Keeps the agent keys that the member created.
             * @default false
             */
            keep_keys?: boolean;
        };
        TeamsInvitationsListParams: {
            /** @description How many at most. By default all, up to 500 or 4 MB. */
            limit?: number;
            /** @description `page_info.next_cursor` of the page before. */
            cursor?: string;
        };
        SecretsListParams: {
            /** @description How many at most. By default all, up to 500 or 4 MB. */
            limit?: number;
            /** @description `page_info.next_cursor` of the page before. */
            cursor?: string;
        };
        HarnessSupportGetTranscriptResponse: {
            /**
             * Format: uri
             * @description A time-limited address; send no credential there.
             */
            download_url: string;
            /**
             * Format: date-time
             * @description Until when it is good.
             */
            expires_at: string;
        };
        DocumentationOpenapiResponse: {
            openapi: string;
        };
    };
}
export type AgentItem = components['schemas']['AgentItem'];
export type AgentVariant = components['schemas']['AgentVariant'];
export type AmbientAgentConfig = components['schemas']['AmbientAgentConfig'];
export type ArtifactItem = components['schemas']['ArtifactItem'];
export type ArtifactResponse = components['schemas']['ArtifactResponse'];
export type ArtifactType = components['schemas']['ArtifactType'];
export type Block = components['schemas']['Block'];
export type CancelRunsRequest = components['schemas']['CancelRunsRequest'];
export type CancelRunsResponse = components['schemas']['CancelRunsResponse'];
export type ClientEvent = components['schemas']['ClientEvent'];
export type CommitSnapshotRequest = components['schemas']['CommitSnapshotRequest'];
export type CommitSnapshotResponse = components['schemas']['CommitSnapshotResponse'];
export type Conversation = components['schemas']['Conversation'];
export type ConversationRedirect = components['schemas']['ConversationRedirect'];
export type CreateAttachmentRequest = components['schemas']['CreateAttachmentRequest'];
export type CreateAttachmentResponse = components['schemas']['CreateAttachmentResponse'];
export type CreateEnvironmentRequest = components['schemas']['CreateEnvironmentRequest'];
export type CreateIdentityRequest = components['schemas']['CreateIdentityRequest'];
export type CreateInvitationRequest = components['schemas']['CreateInvitationRequest'];
export type CreateKeyRequest = components['schemas']['CreateKeyRequest'];
export type CreateScheduleRequest = components['schemas']['CreateScheduleRequest'];
export type CreateSecretRequest = components['schemas']['CreateSecretRequest'];
export type CreateTeamRequest = components['schemas']['CreateTeamRequest'];
export type CreatedAccount = components['schemas']['CreatedAccount'];
export type CreatedInvitation = components['schemas']['CreatedInvitation'];
export type CreatedKey = components['schemas']['CreatedKey'];
export type DeleteScheduleResponse = components['schemas']['DeleteScheduleResponse'];
export type Empty = components['schemas']['Empty'];
export type EnvironmentConfig = components['schemas']['EnvironmentConfig'];
export type EnvironmentItem = components['schemas']['EnvironmentItem'];
export type EnvironmentPerson = components['schemas']['EnvironmentPerson'];
export type Problem = components['schemas']['Problem'];
export type ExecutionLocation = components['schemas']['ExecutionLocation'];
export type ExternalConversationRequest = components['schemas']['ExternalConversationRequest'];
export type ExternalConversationResponse = components['schemas']['ExternalConversationResponse'];
export type FinishTaskRequest = components['schemas']['FinishTaskRequest'];
export type Followup = components['schemas']['Followup'];
export type FollowupPolicy = components['schemas']['FollowupPolicy'];
export type HandoffAttachments = components['schemas']['HandoffAttachments'];
export type HeartbeatRequest = components['schemas']['HeartbeatRequest'];
export type HeartbeatResponse = components['schemas']['HeartbeatResponse'];
export type IdentityItem = components['schemas']['IdentityItem'];
export type InjectedSecret = components['schemas']['InjectedSecret'];
export type InvitationItem = components['schemas']['InvitationItem'];
export type KeyItem = components['schemas']['KeyItem'];
export type ListAgentsResponse = components['schemas']['ListAgentsResponse'];
export type ListEnvironmentsResponse = components['schemas']['ListEnvironmentsResponse'];
export type ListIdentitiesResponse = components['schemas']['ListIdentitiesResponse'];
export type ListInvitationsResponse = components['schemas']['ListInvitationsResponse'];
export type ListKeysResponse = components['schemas']['ListKeysResponse'];
export type ListMembersResponse = components['schemas']['ListMembersResponse'];
export type ListRunsResponse = components['schemas']['ListRunsResponse'];
export type ListSchedulesResponse = components['schemas']['ListSchedulesResponse'];
export type ListSecretsResponse = components['schemas']['ListSecretsResponse'];
export type ListTeamsResponse = components['schemas']['ListTeamsResponse'];
export type ListTicksResponse = components['schemas']['ListTicksResponse'];
export type ListWorkersResponse = components['schemas']['ListWorkersResponse'];
export type MCPServerConfig = components['schemas']['MCPServerConfig'];
export type Me = components['schemas']['Me'];
export type MemberItem = components['schemas']['MemberItem'];
export type Membership = components['schemas']['Membership'];
export type Message = components['schemas']['Message'];
export type MessagesRequest = components['schemas']['MessagesRequest'];
export type MessagesResponse = components['schemas']['MessagesResponse'];
export type Metadata = components['schemas']['Metadata'];
export type Model = components['schemas']['Model'];
export type ModelsResponse = components['schemas']['ModelsResponse'];
export type NotifyUserRequest = components['schemas']['NotifyUserRequest'];
export type Overlap = components['schemas']['Overlap'];
export type PageInfo = components['schemas']['PageInfo'];
export type RemovedMember = components['schemas']['RemovedMember'];
export type ReportArtifactRequest = components['schemas']['ReportArtifactRequest'];
export type ReportArtifactResponse = components['schemas']['ReportArtifactResponse'];
export type ReportShutdownRequest = components['schemas']['ReportShutdownRequest'];
export type Repository = components['schemas']['Repository'];
export type RepositoryToken = components['schemas']['RepositoryToken'];
export type ResolvePromptRequest = components['schemas']['ResolvePromptRequest'];
export type ResolvePromptResponse = components['schemas']['ResolvePromptResponse'];
export type ResolvedAgentConfig = components['schemas']['ResolvedAgentConfig'];
export type Role = components['schemas']['Role'];
export type RunAgentRequest = components['schemas']['RunAgentRequest'];
export type RunAgentResponse = components['schemas']['RunAgentResponse'];
export type RunCreatorInfo = components['schemas']['RunCreatorInfo'];
export type RunEvent = components['schemas']['RunEvent'];
export type RunEvents = components['schemas']['RunEvents'];
export type RunFollowupRequest = components['schemas']['RunFollowupRequest'];
export type RunItem = components['schemas']['RunItem'];
export type RunMode = components['schemas']['RunMode'];
export type RunSchedule = components['schemas']['RunSchedule'];
export type RunSourceType = components['schemas']['RunSourceType'];
export type RunState = components['schemas']['RunState'];
export type RunStatusMessage = components['schemas']['RunStatusMessage'];
export type ScheduleItem = components['schemas']['ScheduleItem'];
export type SecretItem = components['schemas']['SecretItem'];
export type SessionRedirect = components['schemas']['SessionRedirect'];
export type ShareRequest = components['schemas']['ShareRequest'];
export type ShareResponse = components['schemas']['ShareResponse'];
export type Step = components['schemas']['Step'];
export type StoredRepository = components['schemas']['StoredRepository'];
export type TeamItem = components['schemas']['TeamItem'];
export type TeamKey = components['schemas']['TeamKey'];
export type TeamSettings = components['schemas']['TeamSettings'];
export type TickOutcome = components['schemas']['TickOutcome'];
export type Timeline = components['schemas']['Timeline'];
export type TimelineEvent = components['schemas']['TimelineEvent'];
export type TimelineType = components['schemas']['TimelineType'];
export type TranscriptRequest = components['schemas']['TranscriptRequest'];
export type UnavailableRepository = components['schemas']['UnavailableRepository'];
export type UpdateEnvironmentRequest = components['schemas']['UpdateEnvironmentRequest'];
export type UpdateIdentityRequest = components['schemas']['UpdateIdentityRequest'];
export type UpdateMeRequest = components['schemas']['UpdateMeRequest'];
export type UpdateMemberRequest = components['schemas']['UpdateMemberRequest'];
export type UpdateScheduleRequest = components['schemas']['UpdateScheduleRequest'];
export type UpdateTeamRequest = components['schemas']['UpdateTeamRequest'];
export type UploadSnapshotRequest = components['schemas']['UploadSnapshotRequest'];
export type UploadSnapshotResponse = components['schemas']['UploadSnapshotResponse'];
export type UploadTarget = components['schemas']['UploadTarget'];
export type WorkerItem = components['schemas']['WorkerItem'];
export type RunsCreateParams = components['schemas']['RunsCreateParams'];
export type RunsListParams = components['schemas']['RunsListParams'];
export type RunsCancelParams = components['schemas']['RunsCancelParams'];
export type RunsTimelineParams = components['schemas']['RunsTimelineParams'];
export type RunsConversationParams = components['schemas']['RunsConversationParams'];
export type RunsTranscriptResponse = components['schemas']['RunsTranscriptResponse'];
export type RunsListEventsParams = components['schemas']['RunsListEventsParams'];
export type RunsResponseResponse = components['schemas']['RunsResponseResponse'];
export type ConversationsRetrieveParams = components['schemas']['ConversationsRetrieveParams'];
export type AgentsListParams = components['schemas']['AgentsListParams'];
export type WorkersListParams = components['schemas']['WorkersListParams'];
export type SchedulesListParams = components['schemas']['SchedulesListParams'];
export type SchedulesTicksParams = components['schemas']['SchedulesTicksParams'];
export type IdentitiesListParams = components['schemas']['IdentitiesListParams'];
export type IdentitiesKeysListParams = components['schemas']['IdentitiesKeysListParams'];
export type EnvironmentsListParams = components['schemas']['EnvironmentsListParams'];
export type EnvironmentsRetrieveParams = components['schemas']['EnvironmentsRetrieveParams'];
export type KeysListParams = components['schemas']['KeysListParams'];
export type TeamsListParams = components['schemas']['TeamsListParams'];
export type TeamsMembersListParams = components['schemas']['TeamsMembersListParams'];
export type TeamsMembersRemoveParams = components['schemas']['TeamsMembersRemoveParams'];
export type TeamsInvitationsListParams = components['schemas']['TeamsInvitationsListParams'];
export type SecretsListParams = components['schemas']['SecretsListParams'];
export type HarnessSupportGetTranscriptResponse = components['schemas']['HarnessSupportGetTranscriptResponse'];
export type DocumentationOpenapiResponse = components['schemas']['DocumentationOpenapiResponse'];
