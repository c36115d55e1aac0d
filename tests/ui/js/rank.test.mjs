import assert from "node:assert/strict";
import { test } from "node:test";
import { ordinal, prepareRanks, Ranking } from "../../../board/ui/components/token_view/rank.js";

const ranking = (values, { scale = "sequential", loud = "high", counts } = {}) =>
  new Ranking({ values: Float32Array.from(values), scale, loud }, Uint8Array.from(counts ?? values.map(() => 1)));
const places = (ranks, n) => Array.from({ length: n }, (_, i) => ranks.of(i)?.rank ?? null);

const CASES = [
  ["the highest is first", [0.1, 3, 2], {}, [3, 1, 2], 3],
  ["the lowest is first where low is loud", [-0.1, -3, -2], { loud: "low" }, [3, 1, 2], 3],
  ["the farthest from zero is first on a diverging scale", [-5, 4, 0], { scale: "diverging" }, [1, 2, 3], 3],
  ["ties share the better rank", [1, 2, 2, 0, 2], {}, [4, 1, 1, 5, 1], 5],
  ["masked and missing tokens have none", [9, NaN, 1, 2], { counts: [0, 1, 1, 1] }, [null, null, 2, 1], 2],
  ["infinities are the ends", [0, Infinity, -Infinity, 1], {}, [3, 1, 4, 2], 4],
  ["zero has no sign", [0, -0, -1], {}, [1, 1, 3], 3],
  ["one token", [7], {}, [1], 1],
];
for (const [name, values, options, wanted, of] of CASES) {
  test(`${name}, counted and sorted`, () => {
    const ranks = ranking(values, options);
    assert.deepEqual(places(ranks, values.length), wanted);
    ranks.prepare();
    assert.ok(ranks.ready);
    assert.deepEqual(places(ranks, values.length), wanted);
    assert.ok(values.every((_, i) => wanted[i] === null || ranks.of(i).of === of));
  });
}

test("sorting changes no rank of many random tokens, and a rank is one more than the tokens that are louder", () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 16807) % 2147483647;
    return seed / 2147483647;
  };
  const values = Array.from({ length: 700 }, () => (random() < 0.1 ? NaN : Math.round(random() * 40) / 8 - 2));
  const counts = values.map(() => Number(random() < 0.9));
  for (const options of [{}, { loud: "low" }, { scale: "diverging" }]) {
    const ranks = ranking(values, { ...options, counts });
    const before = places(ranks, 700);
    ranks.prepare();
    assert.deepEqual(places(ranks, 700), before);
    const heard = before.filter((place) => place !== null);
    for (const place of heard) assert.equal(heard.filter((other) => other < place).length, place - 1);
  }
});

test("metrics are sorted one in each idle moment", () => {
  const metrics = [1, 2, 3].map(() => ({ ranking: ranking([1, 2]) }));
  const waiting = [];
  prepareRanks(metrics, (work) => waiting.push(work));
  for (const ready of [1, 2, 3]) {
    assert.equal(waiting.length, 1);
    waiting.pop()();
    assert.equal(metrics.filter((metric) => metric.ranking.ready).length, ready);
  }
  assert.equal(waiting.length, 0);
});

test("places read as words", () => {
  const wanted = ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th", "1,003rd"];
  assert.deepEqual([1, 2, 3, 4, 11, 12, 13, 21, 112, 1003].map(ordinal), wanted);
});
