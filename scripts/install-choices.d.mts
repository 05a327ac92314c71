export const installChoices: readonly string[];
export function forgetReviewedBuilds(root: string): void;
