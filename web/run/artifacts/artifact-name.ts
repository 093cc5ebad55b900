import { firstText, toWords } from "../../ui/format.ts";

/** What may name an artifact. Each type has some of these members. */
interface ArtifactTexts {
  readonly artifact_type: string;
  readonly title?: string | undefined;
  readonly filename?: string | undefined;
  readonly description?: string | undefined;
}

/** What an artifact is called. Titles and descriptions may be empty. */
export const artifactName = ({ artifact_type, title, filename, description }: ArtifactTexts): string =>
  firstText([title, filename, description]) ?? toWords(artifact_type.toLowerCase());
