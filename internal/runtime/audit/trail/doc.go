// Package trail reads audit logs, both files (including rotated files) and databases. It verifies
// their hash chains ([Verify], [VerifyChains]), follows new records ([File.Follow],
// [Database.Follow]), selects records ([Filter]), and counts them ([Stats]).
//
// A [Source] is a log: a [File] or a [Database]. Both yield [Record] values in order. The chain of
// a file is verified in parallel: goroutines check blocks of lines, each starting with the hash of
// the line before the block (see verifyQueue), and the results are collected in order. The end of
// the file is compared with its head file. In a database, every writer has its own chain, and the
// first record of each chain names the ends of the others.
//
// Old records may be removed from a database. A removal event in a chain records this. A copy of
// the event is kept outside the chains and shows where each chain now begins (see removals).
//
// The package has no locks. Verify starts one goroutine per block, about as many at a time as there
// are processors, and waits for all of them.
package trail
