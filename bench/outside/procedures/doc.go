// Command procedures converts the procedures of an external benchmark to rules, and replays
// recorded calls against them:
//
//	go run ./bench/outside/procedures -tasks bank_tasks.json -rules bank.rules run1.json run2.json
//
// It reads the format of SOPBench (arXiv 2503.08669). The data of that benchmark is not part of
// this repository. In that data, each service has tasks. A task has a directed graph of AND and OR
// nodes over the functions that must be called first, and names the parameters that must have the
// same values. The output is one rules file for a domain, in the form that a person would write:
//
//	require login_user before transfer_funds once with same username
//	require get_score or get_account before get_loan once with same username
//
// Each recorded call is decided by the gate and by the procedure itself. The report shows for how
// many calls both agree, and how many forbidden and permitted calls the gate refuses.
package main
