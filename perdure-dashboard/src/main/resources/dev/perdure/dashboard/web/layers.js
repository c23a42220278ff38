// Where the boxes of a graph lie, from left to right, and how lines run between them. Nothing here touches the page.
//
// How it works. A box stands in the column behind the last of those that it comes after. A line that crosses columns
// has a place in each of them, so that it runs past the boxes and not over them. Sweeps to and fro order the places of
// each column by the middle of their neighbours; the order with the fewest crossings counts. At last each place moves
// as near to its neighbours as the order and the distances allow.

const COLUMN_GAP = 40;
const BOX_GAP = 18;
const LINE_GAP = 10; // beside a line that passes
const MARGIN = 4;
const SWEEPS = 16;
const MOVES = 8;
const STRAIGHT = 4; // how much more a passing line weighs than a box: long lines should not bend

/** The column of each box: one behind the last of those before it; boxes without any stand next to those after them. */
function columns(boxes) {
  const column = new Map();
  const visit = box => {
    if (column.has(box)) return column.get(box);
    column.set(box, 0); // a circle, which no DAG has, ends here
    column.set(box, Math.max(0, ...box.after.map(parent => visit(parent) + 1)));
    return column.get(box);
  };
  boxes.forEach(visit);
  const next = new Map();
  boxes.forEach(box => box.after.forEach(parent => next.set(parent, Math.min(next.get(parent) ?? Infinity, column.get(box)))));
  boxes.filter(box => !box.after.length && next.has(box)).forEach(box => column.set(box, next.get(box) - 1));
  return column;
}

/** The places of all columns, with their neighbours to the left and to the right. */
function places(boxes, height) {
  const column = columns(boxes);
  const layers = [];
  const add = (at, place) => {
    (layers[at] ??= []).push(place);
    return place;
  };
  const own = new Map(boxes.map(box => [box, add(column.get(box), { box, size: height, left: [], right: [], weight: 1 })]));
  const lines = [];
  const join = (from, to) => {
    from.right.push(to);
    to.left.push(from);
  };
  for (const box of boxes) {
    for (const parent of box.after) {
      const through = [];
      for (let at = column.get(parent) + 1; at < column.get(box); at++) through.push(add(at, { size: 0, left: [], right: [], weight: STRAIGHT }));
      [own.get(parent), ...through, own.get(box)].reduce((from, to) => (join(from, to), to));
      lines.push({ from: parent, to: box, through });
    }
  }
  return { layers: layers.filter(Boolean), own, lines };
}

/** How many lines between two columns cross: for each line, those before it that end below it. */
function crossings(layer) {
  const ends = layer.flatMap(place => place.right.map(other => other.at).sort((a, b) => a - b));
  const tree = new Array(Math.max(0, ...ends) + 2).fill(0);
  let found = 0;
  ends.forEach((end, index) => {
    let above = 0;
    for (let at = end + 1; at > 0; at -= at & -at) above += tree[at];
    found += index - above;
    for (let at = end + 1; at < tree.length; at += at & -at) tree[at]++;
  });
  return found;
}

const number = layer => layer.forEach((place, index) => { place.at = index; });

const middle = (places, value) => places.reduce((sum, place) => sum + value(place), 0) / places.length;

/** Orders the places of each column so that few lines cross. */
function order(layers) {
  layers.forEach(number);
  let best = { crossings: Infinity };
  for (let sweep = 0; sweep < SWEEPS && best.crossings > 0; sweep++) {
    const forward = sweep % 2 === 0;
    const all = forward ? layers.slice(1) : layers.slice(0, -1).reverse();
    for (const layer of all) {
      layer.forEach(place => {
        const beside = forward ? place.left : place.right;
        place.wish = beside.length ? middle(beside, other => other.at) : place.at;
      });
      layer.sort((a, b) => a.wish - b.wish || a.at - b.at);
      number(layer);
    }
    const sum = layers.reduce((found, layer) => found + crossings(layer), 0);
    if (sum < best.crossings) best = { crossings: sum, layers: layers.map(layer => [...layer]) };
  }
  best.layers?.forEach((layer, index) => layers[index].splice(0, Infinity, ...layer));
  layers.forEach(number);
}

/**
 * Moves the places of a column to where they wish to be, as nearly as their order and distances allow: the sum of the
 * squares is the least. Places that would come too near to each other move together, as one block.
 */
function settle(layer) {
  let offset = 0;
  const blocks = [];
  layer.forEach((place, index) => {
    if (index) offset += distance(layer[index - 1], place);
    place.offset = offset;
    let block = { sum: (place.wish - offset) * place.weight, weight: place.weight, places: [place] };
    while (blocks.length && blocks[blocks.length - 1].sum / blocks[blocks.length - 1].weight > block.sum / block.weight) {
      const above = blocks.pop();
      block = { sum: above.sum + block.sum, weight: above.weight + block.weight, places: [...above.places, ...block.places] };
    }
    blocks.push(block);
  });
  blocks.forEach(block => block.places.forEach(place => { place.y = block.sum / block.weight + place.offset; }));
}

/** Between the middles of two places that lie below each other. */
const distance = (above, below) => (above.size + below.size) / 2 + (above.box && below.box ? BOX_GAP : LINE_GAP);

function move(layers) {
  layers.forEach(layer => {
    layer.forEach(place => { place.wish = 0; });
    settle(layer);
  });
  for (let pass = 0; pass < MOVES; pass++) {
    const last = pass === MOVES - 1;
    for (const layer of pass % 2 ? [...layers].reverse() : layers) {
      layer.forEach(place => {
        const beside = last ? [...place.left, ...place.right] : pass % 2 ? place.right : place.left;
        place.wish = beside.length ? middle(beside, other => other.y) : place.y;
      });
      settle(layer);
    }
  }
}

/**
 * Arranges boxes of one size.
 *
 * boxes: [{name, after: [boxes]}]. The answer: at, from the name of a box to its corner; lines: [{from, to, through}]
 * with the points at which a line enters each column that it passes; width and height of all
 */
export function arrange(boxes, { width, height }) {
  const { layers, own, lines } = places(boxes, height);
  order(layers);
  move(layers);
  const all = layers.flat();
  const top = Math.min(...all.map(place => place.y - place.size / 2));
  const bottom = Math.max(...all.map(place => place.y + place.size / 2));
  layers.forEach((layer, index) => layer.forEach(place => {
    place.x = MARGIN + index * (width + COLUMN_GAP);
    place.y += MARGIN - top;
  }));
  return {
    at: new Map(boxes.map(box => [box.name, { x: own.get(box).x, y: own.get(box).y - height / 2 }])),
    lines: lines.map(line => ({ from: line.from.name, to: line.to.name, through: line.through.map(({ x, y }) => ({ x, y })) })),
    width: layers.length * (width + COLUMN_GAP) - COLUMN_GAP + 2 * MARGIN,
    height: bottom - top + 2 * MARGIN,
  };
}
