export const range = (count) => Array.from({ length: count - 1 }, (_, index) => index);
