import { ImageBlock, TextBlock } from "@strands-agents/sdk";
import type { ToolImage } from "../engine/tool.ts";
import { isMembers, type Members } from "./dialects/members.ts";
import { createRefusals, type OptionalMembers } from "./optional-members.ts";

/** Bytes of the images of one turn: a request to a model has 5 MiB, with each image in base64. */
const MAX_TURN_BYTES = 2_304 * 1024;

/** Shows the images of tools to a model. */
export interface ImageViewer {
  /**
   * Converts images to blocks of a tool's result: the images, or a text that says why they are not shown. It begins with a line break,
   * because some APIs join the texts of a result.
   */
  show(images: readonly ToolImage[]): (ImageBlock | TextBlock)[];
}

/** Creates the viewer of one turn. @param sees whether the model sees images */
export function createImageViewer(sees: boolean): ImageViewer {
  let room = MAX_TURN_BYTES;
  return {
    show(images) {
      return images.map(({ format, bytes }) => {
        if (!sees) return new TextBlock("\nThe image is not shown: this model does not see images.");
        if (bytes.length > room) return new TextBlock("\nThe image is not shown: there were too many in this turn.");
        room -= bytes.length;
        return new ImageBlock({ format, source: { bytes } });
      });
    },
  };
}

const REFUSAL = /\bimages?\b|vision|multi-?modal/i;
const LEFT_OUT = "[image left out: the server of the model refuses it]";
const TEXTS = { messages: "text", chat: "text", responses: "input_text" } as const;
const IMAGES = new Set(["image", "image_url", "input_image"]);

/** Leaves the images out of requests to a model whose server has refused one, so that it does not end the run. */
export function createImageFilter(): OptionalMembers {
  const refusals = createRefusals(
    (status, text) => status >= 400 && (status < 500 || /image/i.test(text)) && REFUSAL.test(text),
  );
  return {
    removes: true,
    add: (api, body) => (refusals.has(body) ? replaceImages(body, { type: TEXTS[api], text: LEFT_OUT }) : body),
    isRefused: (body, status, text) => hasImages(body) && refusals.add(body, status, text),
  };
}

const hasImages = (body: Members): boolean => replaceImages(body, {}) !== body;

/** Replaces the images of a request; the same request if there are none. */
function replaceImages(body: Members, by: Members): Members {
  const changed = ["messages", "input"].flatMap((name) => {
    const value = replace(body[name], by);
    return value === body[name] ? [] : [[name, value] as const];
  });
  return changed.length === 0 ? body : { ...body, ...Object.fromEntries(changed) };
}

function replace(value: unknown, by: Members): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => replace(item, by));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isMembers(value)) return value;
  if (IMAGES.has(String(value["type"]))) return by;
  const changed = ["content", "output"].flatMap((name) => {
    const member = replace(value[name], by);
    return member === value[name] ? [] : [[name, member] as const];
  });
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) };
}
