/**
 * Draws the path from the leaf (below) to the root (above). Hashes computed here stand in the middle; the siblings that
 * the service supplied stand on the side on which they were joined.
 */
import type { InclusionProof } from '../shared/wire.ts';
import type { PathStep } from './walk-path.ts';

const WIDTH = 360;
const MIDDLE = WIDTH / 2;
const ROW = 62;
const BOX = { width: 106, height: 30 };
const SIDE = { left: BOX.width / 2 + 2, right: WIDTH - BOX.width / 2 - 2 } as const;

export interface PathDrawingProps {
  readonly proof: InclusionProof;
  readonly steps: readonly PathStep[];
  readonly holds: boolean;
}

export const PathDrawing = ({ proof, steps, holds }: PathDrawingProps) => {
  const height = (steps.length + 1) * ROW + 26;
  const top = holds ? 'root' : 'wrong';
  const [from, to] = extentOf(steps);
  /** The middle of a row; row 0 is the leaf's. */
  const yOf = (row: number): number => height - 26 - BOX.height / 2 - row * ROW;
  return (
    <figure class="path-figure">
      <svg
        class="path"
        viewBox={`${from} 0 ${to - from} ${height}`}
        role="img"
        aria-label={`From leaf ${proof.leaf_index + 1} of ${proof.tree_size} in ${steps.length} steps to the root`}
      >
        {steps.map((step, row) => (
          <Edges key={row} step={step} y={yOf(row)} yParent={yOf(row + 1)} />
        ))}
        <Box x={MIDDLE} y={yOf(0)} hash={proof.leaf} kind={steps.length === 0 ? top : 'own'} />
        {steps.map((step, row) => {
          const isRoot = row === steps.length - 1;
          return (
            <g key={row}>
              {step.kind === 'joined' && (
                <Box x={SIDE[step.side]} y={yOf(row)} hash={step.sibling} kind="given" />
              )}
              <Box x={MIDDLE} y={yOf(row + 1)} hash={step.hash} kind={isRoot ? top : 'own'} />
            </g>
          );
        })}
        <text x={MIDDLE} y={height - 6} class="path-caption">
          leaf {(proof.leaf_index + 1).toLocaleString('en')} of {proof.tree_size.toLocaleString('en')}
        </text>
      </svg>
      <figcaption class="soft">
        <span class="path-key path-key-own">hashed in this tab</span>
        <span class="path-key path-key-given">given by the service</span>
      </figcaption>
    </figure>
  );
};

/** The left and right edge of the drawing: a side without siblings takes no room. */
const extentOf = (steps: readonly PathStep[]): [number, number] => {
  const hangs = (side: 'left' | 'right') =>
    steps.some((step) => step.kind === 'joined' && step.side === side);
  // A hash that moves up without a sibling has a note beside it that says why.
  const hasNote = steps.some(({ kind }) => kind === 'carried');
  const margin = BOX.width / 2 + 2;
  return [hangs('left') ? 0 : MIDDLE - margin, hangs('right') || hasNote ? WIDTH : MIDDLE + margin];
};

const Edges = ({
  step,
  y,
  yParent,
}: {
  readonly step: PathStep;
  readonly y: number;
  readonly yParent: number;
}) => (
  <g class={step.kind === 'carried' ? 'path-edges path-carried' : 'path-edges'}>
    <path d={`M${MIDDLE} ${y}V${yParent}`} />
    {step.kind === 'carried' && (
      <text x={MIDDLE + 10} y={(y + yParent) / 2 + 4} class="path-note">
        no sibling: moves up as it is
      </text>
    )}
    {step.kind === 'joined' && (
      <path
        d={`M${SIDE[step.side]} ${y - BOX.height / 2}C${SIDE[step.side]} ${yParent + 14} ${MIDDLE} ${y - 22} ${MIDDLE} ${yParent + BOX.height / 2}`}
      />
    )}
  </g>
);

const Box = ({
  x,
  y,
  hash,
  kind,
}: {
  readonly x: number;
  readonly y: number;
  readonly hash: string;
  readonly kind: 'own' | 'given' | 'root' | 'wrong';
}) => (
  <g class={`path-box path-${kind}`}>
    <title>{hash}</title>
    <rect x={x - BOX.width / 2} y={y - BOX.height / 2} width={BOX.width} height={BOX.height} rx="7" />
    <text x={x} y={y + 4}>
      {hash.slice(0, 6)}…{hash.slice(-5)}
    </text>
  </g>
);
