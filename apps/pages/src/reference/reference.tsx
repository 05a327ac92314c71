/** `/docs` until the whole reference has been loaded: every operation by area. */
import { Shell } from '../shared/shell.tsx';
import type { Area } from './operations.ts';

export const Reference = ({ areas }: { readonly areas: readonly Area[] }) => (
  <Shell page="reference">
    <div id="reference">
      {areas.map(({ name, description, operations }) => (
        <section key={name} class="area">
          <h2>{name}</h2>
          <p class="soft">{description}</p>
          <ul>
            {operations.map(({ id, method, path, summary }) => (
              <li key={id}>
                <a href={`#tag/${name.replaceAll(' ', '-')}/operation/${id}`}>{summary}</a>
                <code>
                  {method} {path}
                </code>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  </Shell>
);
