// @ts-nocheck: see ../compute.js
'use client';
// biome-ignore lint/correctness/noUndeclaredDependencies: the project that this is copied into has it
import { useEffect, useState } from 'react';
import { outcomeOf } from './compute.js';
import { inWorker } from './in-worker.js';

export default function Page() {
  const [said, say] = useState('');
  useEffect(() => {
    outcomeOf().then(async (inPage) => say(JSON.stringify({ inPage, inWorker: await inWorker() })));
  }, []);
  return <output>{said}</output>;
}
