// Package trail reads audit logs, both files (including rotated files) and databases. It verifies
// their hash chains ([Verify], [VerifyChains]), follows new records ([File.Follow],
// [Database.Follow]), selects records ([Filter]), and counts them ([Stats]).
//
// A [Source] is a log: a [File] or a [Database]. Both yield [Record] values in order. A file's
// chain is verified in parallel: workers check blocks of lines, each starting from the hash of the
// line before its block (see verifyQueue), and the results are collected in order. The file's end
// is compared with its head file. In a database, every writer has its own chain, and each chain's
// first record names the ends of the others.
//
// Records may be removed from a database because of their age. An event in a chain records the
// removal, and a copy of the event outside the chains gives the position where each chain now
// begins; see removals.
//
// The package has no locks. Verify starts one goroutine per block, about as many at a time as there
// are processors, and waits for all of them.
package trail
