import { Page } from "../ui/page.tsx";
import { Models } from "./models.tsx";
import { Skills } from "./skills.tsx";
import { Workers } from "./workers.tsx";

export const ResourcesPage = () => (
  <Page title="Resources" lead="Models, skills and self-hosted workers that runs can use.">
    <div className="stack">
      <Models />
      <Skills />
      <Workers />
    </div>
  </Page>
);
