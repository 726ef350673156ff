/**
 * Takes each of the subjects once a repetition, one after the other. Who begins changes with every repetition, so that nobody always comes
 * after the same other; a machine that slows down slows all of them down.
 */
export async function inTurns<Subject>(
  subjects: readonly Subject[],
  reps: number,
  steps: {
    begin?(repetition: number): void;
    take(subject: Subject, repetition: number): Promise<void>;
    end?(repetition: number): Promise<void>;
  },
): Promise<void> {
  for (let repetition = 1; repetition <= reps; repetition++) {
    steps.begin?.(repetition);
    for (let turn = 0; turn < subjects.length; turn++) {
      await steps.take(subjects[(turn + repetition - 1) % subjects.length] as Subject, repetition);
    }
    await steps.end?.(repetition);
  }
}
