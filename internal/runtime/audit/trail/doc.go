// Package trail reads audit logs: those in files, with the files that were put aside, and
// those in databases. It verifies their chains ([Verify], [VerifyChains]), follows them
// ([Follow]), selects records ([Filter]) and counts them ([Stats]).
package trail
