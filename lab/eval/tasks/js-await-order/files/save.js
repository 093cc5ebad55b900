/** Saves all documents in their order. Resolves with the number of saved documents. */
export async function saveAll(documents, save) {
  let count = 0;
  documents.forEach(async (document) => {
    await save(document);
    count++;
  });
  return count;
}
