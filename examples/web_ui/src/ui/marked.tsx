/** Text with some of it marked; ranges must be sorted and apart. */
export function Marked({ text, marks }: { text: string; marks: readonly [number, number][] }) {
  const startOf = (index: number) => marks[index - 1]?.[1] ?? 0;
  return (
    <>
      {marks.map(([start, end], index) => (
        <span key={index}>
          {text.slice(startOf(index), start)}
          <mark>{text.slice(start, end)}</mark>
        </span>
      ))}
      {text.slice(startOf(marks.length))}
    </>
  );
}
