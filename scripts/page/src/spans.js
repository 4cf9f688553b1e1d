// The spans of a timeline, and which are where.

/** Columns of the file become one list of places for each track, in order of time. */
export class Spans {
  constructor(timeline) {
    const { events } = timeline;
    this.begin = Float64Array.from(events.begin_us, (value) => value * 1e-6);
    this.end = Float64Array.from(events.duration_us, (value, i) => this.begin[i] + value * 1e-6);
    this.operation = events.operation;
    this.layer = events.layer;
    this.microbatch = events.microbatch;
    this.count = events.count;
    this.operations = timeline.operations;
    this.tracks = timeline.tracks.map((track) => ({ ...track, places: [] }));
    events.track.forEach((track, i) => this.tracks[track].places.push(i));
    for (const { places } of this.tracks) places.sort((a, b) => this.begin[a] - this.begin[b]);
    this.last = this.end.reduce((most, end) => Math.max(most, end), 0);
  }

  get size() { return this.begin.length; }

  /** The first index of a track whose span ends after a time. */
  firstAfter(track, time) {
    const { places } = this.tracks[track];
    let low = 0;
    let high = places.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[places[middle]] > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The index in its track of the span at a time, or of one nearer than `slack`; -1: none. */
  at(track, time, slack) {
    const { places } = this.tracks[track];
    const first = this.firstAfter(track, time - slack);
    for (let i = first; i < Math.min(places.length, first + 3); ++i)
      if (this.begin[places[i]] <= time && time <= this.end[places[i]]) return i;
    return first < places.length && this.begin[places[first]] <= time + slack ? first : -1;
  }
}
