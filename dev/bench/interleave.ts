/**
 * Interleaves the subjects: each repetition takes every subject once. The first subject rotates
 * with each repetition, so none always follows the same other, and a slowing machine slows all of
 * them down.
 */
export async function interleave<Subject>(
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
    for (let offset = 0; offset < subjects.length; offset++) {
      await steps.take(subjects[(offset + repetition - 1) % subjects.length] as Subject, repetition);
    }
    await steps.end?.(repetition);
  }
}
