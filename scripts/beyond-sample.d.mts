export declare function listBeyondSample(root: string): string[];
