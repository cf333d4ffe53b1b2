// Command procedures converts the procedures of an external benchmark to rules, and replays
// recorded calls against them:
//
//	go run ./bench/outside/procedures -tasks bank_tasks.json -rules bank.rules run1.json run2.json
//
// It reads the task files of SOPBench (arXiv 2503.08669), which are not part of this repository.
// Each task in such a file has a directed graph. An edge leads from a function to a function that
// must be called before it. AND and OR nodes combine several such functions. The graph also shows
// which parameters must have equal values. The output is one rules file per domain, with rules such
// as:
//
//	require login_user before transfer_funds once with same username
//	require get_score or get_account before get_loan once with same username
//
// For each recorded call that did not fail, the command compares the gate's decision, which is
// based on the rules, with a decision based on the procedure itself. The report shows how often
// they agree, and how many forbidden and permitted calls the gate refuses.
package main
