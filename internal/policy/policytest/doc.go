// Package policytest runs the tests that stand beside rules, in files whose
// names end in _test.yaml:
//
//	config: petrigate.yaml     # or rules: safety.rules, nets: [a.net.yaml]
//	tests:
//	  - name: a delete needs a backup
//	    steps:
//	      - call: delete
//	        args: { path: notes.txt }
//	        reason: requires a successful call to backup
//	        rule: safety.rules:3
//	      - call: backup
//	      - call: delete
//
// A file that names no policy is about the petrigate.yaml beside it or, where
// there is none, about all *.rules and *.net.yaml beside it. A test begins with
// a new session and plays its steps in order, up to the first that is not as
// expected. A step is a call, the end of an earlier call (settle), or time that
// passes (after); after may stand in the other two as well, and comes first.
//
//	call: deploy             # the tool; with a configuration, under any of its names
//	args: { env: staging }
//	times: 3                 # that the call is made, one after the other, all expected alike
//	as: first                # a name for settle, instead of the number of the step
//	session: b               # one of the sessions of the test; otherwise the first
//	annotations: { readOnlyHint: true }   # of the tool
//	approve: true            # or false: what a person says who is asked
//	result: success          # or failure, error, unknown, pending: how the call ends
//	expect: allow            # or refuse, or ask: a person is asked
//	reason: not in production   # is part of the refusal; or a /regular expression/
//	rule: deploy.rules:4     # refuses, or asks; or the name of a net
//	would: refuse            # or ask: what nets in shadow would have said; then reason and rule are of that
//	names: [deploy]          # are among the names of the call
//
//	settle: { call: first, result: failure }
//
// Where nothing else is said, a call is expected to pass and succeeds; one with
// a reason, a rule or approve: false is expected to be refused. A question that
// the step does not answer ends the call: nobody was there. With expect: ask
// and approve: true a person has to be asked, and the call then passes.
//
// A counterexample of "petrigate check --json" is a test as it stands: its
// events take the place of the steps, and all its calls are expected to pass,
// or the last one not, once the policy is mended:
//
//	tests:
//	  - name: no deployment without a test
//	    events: [{"type": "call", "id": "1", "tool": "deploy", "approve": true}]
//	    expect: refuse
//
// A test of several sessions lists them with the principal of each. All begin
// when the test does, and share what nets of principals and global nets count:
//
//	sessions: { a: ann, b: ann, c: bob }
//
// Cases are the same in JSON Lines, for programs: a policy and the events under it, one
// case a line. [Eval] answers what the gate decides of each event and compares that with
// what is expected; [RunCases] runs cases as tests.
package policytest
