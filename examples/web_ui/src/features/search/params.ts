export const standardTopK = 10;
