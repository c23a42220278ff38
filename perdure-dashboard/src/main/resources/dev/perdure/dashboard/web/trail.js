// The runs of the list that was last looked at, so that the page of a run leads on to the next one.

let ids = [];

/** Keeps the runs of a list. */
export function setTrail(shown) {
  ids = shown;
}

/** The run so many places after this one in that list, if there is one. */
export const along = (id, places) => (ids.includes(id) ? ids[ids.indexOf(id) + places] : undefined);
