import { createContext } from "react";

/** What the viewer searches for in the steps of a run. Folded texts show the lines that contain it. */
export const SearchText = createContext("");
