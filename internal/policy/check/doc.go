// Package check tells what is known of a policy before anybody calls a tool.
//
// [Run] proves the claims of a policy and finds tools that can never be called,
// rules that change nothing, and ways to get stuck. What it finds are problems
// ([Analysis.Problems]) and notes, for a [Report] or for the log of a proxy that
// starts. [KnownSet] and [LikelyTools] tell which names belong to one tool. The lint
// functions ([NoPolicy], [NoUpstream] and others) look at a configuration alone.
package check
