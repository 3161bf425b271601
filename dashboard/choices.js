// The app repeats what was chosen in the browser. By then something else may be chosen: such a repetition is out of date.
class Choices {
  constructor(said) { this.said = said; this.told = []; }

  tell(choice) { this.told.push(choice); }

  // Whether what the app says now is to be followed. `choosing`: another choice is about to be told.
  news(said, choosing = false) {
    if (said === this.said) return false;
    this.said = said;
    const place = this.told.indexOf(said);
    const late = place >= 0 && (choosing || place < this.told.length - 1);
    this.told = late ? this.told.slice(place + 1) : [];
    return !late;
  }
}
