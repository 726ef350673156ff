/**
 * Waits for all of some work, also after a failure, so that none of it uses what is freed then.
 *
 * @param onFailure called once, at the first failure, to end the rest
 * @throws the error of the first failure
 */
export const settleAll = async <Results extends readonly unknown[]>(
  work: { readonly [Index in keyof Results]: Promise<Results[Index]> },
  onFailure: () => void,
): Promise<Results> => {
  let failure: { readonly error: unknown } | null = null;
  const results = await Promise.all(
    work.map((each: Promise<unknown>) =>
      each.catch((error: unknown) => {
        if (failure !== null) return;
        failure = { error };
        onFailure();
      }),
    ),
  );
  const failed = failure as { readonly error: unknown } | null;
  if (failed !== null) throw failed.error;
  return results as unknown as Results;
};
