/** Export the student's work as a zip of the files that `grpo-ref init` makes, and import it again. */
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";

export const FOLDER = "exercises";
const EARLIEST = new Date(1980, 0, 1); // that a zip can hold: equal work gives equal files

/** Return a zip of files below the folder of the exercises: path -> text. */
export function zipped(files: ReadonlyMap<string, string>): Blob {
  const tree = Object.fromEntries([...files].map(([path, text]) => [`${FOLDER}/${path}`, strToU8(text)]));
  return new Blob([zipSync(tree, { mtime: EARLIEST })], { type: "application/zip" });
}

/** Return path and text of every chosen Python file, and of those in chosen zip files. */
export async function chosen(files: Iterable<File>): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const file of files) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const inside = file.name.endsWith(".zip") ? unzipSync(bytes) : { [file.name]: bytes };
    for (const [path, content] of Object.entries(inside)) {
      if (path.endsWith(".py")) found.set(path, strFromU8(content));
    }
  }
  return found;
}

/** Hand a file to the user. */
export function offer(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
