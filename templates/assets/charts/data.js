/* Reads charts.bin and exact.bin (see sitegen/pages/chart_data.py): a picture of every metric, then every value. */
(() => {
  "use strict";

  const charts = ((window.sitegen = window.sitegen || {}).charts = {});
  const OCTAVE = 128; /* as in sitegen/charts/pack.py */
  const ABSENT = -2147483648;
  const NOISE = 5; /* low planes of doubles are not packed */

  /* A page that was opened from a folder may not fetch: there the file is a script (sitegen/site/offline.py). */
  const fetched = (url, options) => {
    if (location.protocol !== "file:") return fetch(url, options);
    return new Promise((done, failed) => {
      const node = document.createElement("script");
      node.src = `${url}.js`;
      node.onload = () => {
        const bytes = Uint8Array.from(atob(window.sitegenFiles[`${url}`]), (sign) => sign.charCodeAt(0));
        done(new Response(bytes));
      };
      node.onerror = () => failed(new Error(`${url}.js is not there`));
      document.head.append(node);
    });
  };

  const inflate = async (bytes) => {
    const packed = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(packed).arrayBuffer());
  };

  /* `count` numbers of `Kind` whose first bytes come first, then all second ones, … */
  const planes = (bytes, at, count, Kind) => {
    const size = Kind.BYTES_PER_ELEMENT, out = new Uint8Array(count * size);
    for (let plane = 0; plane < size; plane += 1) {
      const from = at + plane * count;
      for (let i = 0; i < count; i += 1) out[i * size + plane] = bytes[from + i];
    }
    return new Kind(out.buffer);
  };

  const sums = (numbers) => {
    for (let i = 1; i < numbers.length; i += 1) numbers[i] += numbers[i - 1];
    return numbers;
  };

  const bucketed = (pieces) => {
    const starts = [], sizes = [];
    let at = 0;
    for (const [, rows, per] of pieces) {
      for (let first = 0; first < rows; first += per) {
        starts.push(at + first);
        sizes.push(Math.min(per, rows - first));
      }
      at += rows;
    }
    return { starts, sizes };
  };

  /* Reads low, high and middle of the buckets of `codes.length` metrics, NaN where one has no value. */
  const picture = (bytes, size, buckets, codes) => {
    const count = codes.length, present = Math.ceil((count * buckets) / 8);
    const numbers = planes(bytes, present, 3 * count * buckets, size === 2 ? Uint16Array : Uint32Array);
    const wholes = codes.map((code, k) => (code === "d" ? k : -1)).filter((k) => k >= 0);
    const doubles = planes(bytes, present + 3 * size * count * buckets, 3 * wholes.length * buckets, Float64Array);
    const there = (cell) => (bytes[cell >> 3] >> (7 - (cell & 7))) & 1;
    return (k) => {
      const out = { low: new Float64Array(buckets), high: new Float64Array(buckets), middle: new Float64Array(buckets) };
      const code = codes[k], exact = wholes.indexOf(k);
      const value = code === "l" ? (whole) => 2 ** (whole / OCTAVE) : (whole) => whole * code;
      let low = 0;
      for (let b = 0; b < buckets; b += 1) {
        const cell = k * buckets + b, zigzag = numbers[cell];
        low += zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2;
        if (!there(cell)) out.low[b] = out.high[b] = out.middle[b] = NaN;
        else if (exact >= 0) {
          ["low", "high", "middle"].forEach((part, i) => {
            out[part][b] = doubles[(i * wholes.length + exact) * buckets + b];
          });
        } else {
          out.low[b] = value(low);
          out.high[b] = value(low + numbers[count * buckets + cell]);
          out.middle[b] = value(low + numbers[2 * count * buckets + cell]);
        }
      }
      return out;
    };
  };

  const length = ({ of, size }, buckets, codes) => {
    const cells = of.length * buckets, wholes = codes.filter((code) => code === "d").length;
    return Math.ceil(cells / 8) + 3 * size * cells + 24 * wholes * buckets;
  };

  /* `ready(k)`: promise that `seen(k)` knows the buckets of metric `k`. */
  const pictures = (header, body, buckets, part) => {
    const readers = new Map();
    let at = 0;
    const read = (one, bytes, codes) => {
      const seen = picture(bytes, one.size, buckets, codes);
      one.of.forEach((k, i) => readers.set(k, () => seen(i)));
    };
    const waiting = header.pictures.flatMap((one) => {
      const codes = one.of.map((k) => header.metrics[k].code);
      if (one.chunk >= 0) return [[one, codes]];
      read(one, body.subarray(at, (at += length(one, buckets, codes))), codes);
      return [];
    });
    const known = new Map();
    const ready = async (k) => {
      for (const [one, codes] of waiting) {
        if (one.of.includes(k) && !readers.has(k)) read(one, (await part(one.chunk)).packed, codes);
      }
    };
    const seen = (k) => known.get(k) || known.set(k, readers.get(k)()).get(k);
    return { ready, seen };
  };

  /* A chunk: a part that is as it is, and one that was packed. */
  const opened = async (bytes) => {
    const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    return { plain: bytes.subarray(4, end), packed: await inflate(bytes.subarray(end)) };
  };

  /* Parts of the exact file by place; a server that sends no parts sends the whole once. */
  const chunks = (lengths, inline, url) => {
    const starts = lengths.map((_, i) => lengths.slice(0, i).reduce((sum, one) => sum + one, 0));
    const known = new Map();
    let whole = inline;
    const bring = async (i) => {
      const [from, to] = [starts[i], starts[i] + lengths[i]];
      if (!whole) {
        const answer = await fetched(url, { headers: { Range: `bytes=${from}-${to - 1}` } });
        if (!answer.ok) throw new Error(`${answer.status} for ${url}`);
        const bytes = new Uint8Array(await answer.arrayBuffer());
        if (answer.status === 206) return opened(bytes);
        whole = bytes;
      }
      return opened(whole.subarray(from, to));
    };
    let turn = Promise.resolve(); /* one request at a time: the first may bring everything */
    return (i) => {
      if (!known.has(i)) {
        const brought = turn.then(() => bring(i));
        turn = brought.catch(() => known.delete(i));
        known.set(i, brought);
      }
      return known.get(i);
    };
  };

  const exactly = ({ plain, packed }, { kind, packed: at, plain: noise }, rows) => {
    if (kind === "f") return Float64Array.from(planes(packed, at, rows, Float32Array));
    if (kind === "m") return Float64Array.from(planes(packed, at, rows, Int32Array), (n) => (n === ABSENT ? NaN : n / 1000));
    const bytes = new Uint8Array(8 * rows);
    bytes.set(plain.subarray(noise, noise + NOISE * rows));
    bytes.set(packed.subarray(at, at + (8 - NOISE) * rows), NOISE * rows);
    return planes(bytes, 0, rows, Float64Array);
  };

  /* Everything a page may draw: `header`, `steps`, buckets (`ready`, `seen`), `exact(k)`: a promise of all values of
     a metric, or behind the metrics of an axis. */
  charts.fetched = fetched;

  charts.read = async (url) => {
    const answer = await fetched(url);
    if (!answer.ok) throw new Error(`${answer.status} for ${url}`);
    const file = await answer.arrayBuffer();
    if (new TextDecoder().decode(file.slice(0, 4)) !== "sgc1") throw new Error("not a file of charts");
    const [head, body] = [4, 8].map((at) => new DataView(file).getUint32(at, true));
    const header = JSON.parse(new TextDecoder().decode(await inflate(new Uint8Array(file, 12, head))));
    const bytes = await inflate(new Uint8Array(file, 12 + head, body));
    const rows = header.pieces.reduce((sum, piece) => sum + piece[1], 0);
    const { starts, sizes } = bucketed(header.pieces);
    const part = chunks(header.chunks, header.exact ? null : new Uint8Array(file, 12 + head + body), new URL(header.exact, url));
    const all = [...header.metrics.map((metric) => metric.place), ...header.places];
    const exact = async (k) => exactly(await part(all[k].chunk), all[k], rows);
    const data = { header, rows, starts, sizes, exact };
    data.live = header.pieces[0][1];
    data.steps = sums(planes(bytes, 0, rows, Float64Array));
    return Object.assign(data, pictures(header, bytes.subarray(8 * rows), starts.length, part));
  };
})();
