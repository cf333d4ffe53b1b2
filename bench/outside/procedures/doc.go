// Command procedures converts procedures of an outside benchmark to rules, and plays
// recorded calls against them:
//
//	go run ./bench/outside/procedures -tasks bank_tasks.json -rules bank.rules run1.json run2.json
//
// It reads the shape of SOPBench (arXiv 2503.08669), whose data is not part of this
// repository: for each service its tasks, with a directed graph of AND and OR over the
// functions that must have been called before, and which parameters must agree. What
// comes out is one file of rules for a domain, as a person would write it:
//
//	require login_user before transfer_funds once with same username
//	require get_score or get_account before get_loan once with same username
//
// Every recorded call is decided by the gate and, beside it, by the procedure itself. The
// report says how often they agree, how many calls of forbidden services are refused, and
// how many permitted calls are.
package main
