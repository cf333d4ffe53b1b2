// Command procedures converts the procedures of an external benchmark to rules, and replays
// recorded calls against them:
//
//	go run ./bench/outside/procedures -tasks bank_tasks.json -rules bank.rules run1.json run2.json
//
// It reads the format of SOPBench (arXiv 2503.08669), whose data is not part of this repository.
// For each service, the data has tasks with a directed graph of AND and OR over the functions that
// must be called first, and the parameters that must agree. The output is one file of rules for a
// domain, in the form that a person would write:
//
//	require login_user before transfer_funds once with same username
//	require get_score or get_account before get_loan once with same username
//
// Every recorded call is decided by the gate and by the procedure itself. The report gives the
// number of calls on which they agree, and the number of forbidden and of permitted calls that are
// refused.
package main
