/** Returns the path of the program for this machine. */
export declare function path(): string;
