import { describe, expect, it } from 'vitest';
import { excerpt, findTerms, merge, queryTerms, readable, type Range, toUtf16 } from '@/features/search/marks';
import { locate } from '@/features/viewer/locate';

const cut = (text: string, ranges: readonly Range[]) => ranges.map(([start, end]) => text.slice(start, end));

describe('marks', () => {
  it('counts an emoji as one character, as the service does', () => {
    const text = '😀 leave 𠮷 days';
    expect(cut(text, toUtf16(text, [[2, 7], [10, 14]]))).toEqual(['leave', 'days']);
    expect(toUtf16('plain', [[0, 2]])).toEqual([[0, 2]]);
  });

  it('survives ranges beyond the text', () => {
    expect(cut('😀a', toUtf16('😀a', [[1, 99]]))).toEqual(['a']);
  });

  it('cuts English into words and Chinese into runs and pairs', () => {
    expect(queryTerms('Annual leave, a day')).toEqual(['annual', 'leave', 'day']);
    expect(queryTerms('年假天数 PDF')).toEqual(['年假天数', '年假', '假天', '天数', 'pdf']);
  });

  it('marks words at their beginning only, Chinese anywhere', () => {
    expect(cut('Leaves and sleave', findTerms('Leaves and sleave', 'leave'))).toEqual(['Leave']);
    expect(cut('每年的年假是多少', findTerms('每年的年假是多少', '年假'))).toEqual(['年假']);
  });

  it('joins ranges that touch or overlap', () => {
    expect(merge([[5, 8], [0, 3], [2, 4], [8, 9], [20, 20]])).toEqual([[0, 4], [5, 9]]);
  });

  it('shows the part with the most marks and moves the marks along', () => {
    const text = `${'filler words here '.repeat(60)}the annual leave rule${' more filler'.repeat(60)}`;
    const marks = findTerms(text, 'annual leave');
    const part = excerpt(text, marks, 200);
    expect(part.text.length).toBeLessThanOrEqual(200);
    expect(cut(part.text, part.marks)).toEqual(['annual', 'leave']);
    expect([part.cutBefore, part.cutAfter]).toEqual([true, true]);
  });

  it('leaves a short passage whole', () => {
    expect(excerpt('short', [[0, 2]], 100)).toEqual({ text: 'short', marks: [[0, 2]], cutBefore: false, cutAfter: false });
  });
});

describe('locating a passage in an original', () => {
  const page = 'Header  1\nAnnual leave is twenty-\nfive days for  everyone. The rest moves on.\nFooter';

  it('ignores blanks and letter case', () => {
    const range = locate(page, 'annual LEAVE is twenty- five days for everyone.');
    expect(range && page.slice(...range)).toBe('Annual leave is twenty-\nfive days for  everyone.');
  });

  it('finds the part of a passage that a page holds', () => {
    const range = locate(page, `${'words of the page before, which are not on this one. '.repeat(3)}Annual leave is twenty-five days for everyone. The rest moves on.`);
    expect(range && page.slice(...range)).toContain('five days for');
  });

  it('finds Chinese and full-width forms', () => {
    const text = '第一章\n年假为２５天，\n剩余可结转。';
    const range = locate(text, '年假为25天,剩余可结转。');
    expect(range && text.slice(...range)).toContain('年假为２５天');
  });

  it('says so when nothing is there', () => {
    expect(locate(page, 'something entirely different in every word')).toBeNull();
    expect(locate('', 'x')).toBeNull();
    expect(locate(page, '')).toBeNull();
  });

  it('leaves out the tags around slides and keeps the marks on their words', () => {
    const raw = '<slide index=2>\nTelescope dome\n</slide>';
    const at = raw.indexOf('dome');
    const { text, marks } = readable(raw, [[0, 6], [at, at + 4]]);
    expect(text).toBe('Telescope dome');
    expect(marks.map(([start, end]) => text.slice(start, end))).toEqual(['dome']);
    expect(readable('a <b> c', [[0, 1]])).toEqual({ text: 'a <b> c', marks: [[0, 1]] });
  });
});
