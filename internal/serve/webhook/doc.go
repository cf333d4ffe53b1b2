// Package webhook asks people for approvals through the operator's own system, such as a chat bot.
// A signed POST tells the system that a call is waiting for approval, and another POST tells it
// that the approval has ended. Answers are sent to an endpoint of the proxy:
//
//	POST /answer              a signed body that names the approval, its nonce, the decision and the actor
//	GET  /answer/ID/TOKEN     a page that shows the call; it changes nothing, since chat programs fetch links
//	POST /answer/ID/TOKEN     the decision in the token
//
// The system signs with a secret that it shares with the proxy. The tokens in links are signed with
// the same secret, and anyone who has a link can use it. A nonce binds each signature and each
// token to one approval. The nonce is derived from the secret, so any process with the same secret
// and the same database can accept an answer. Once an approval has ended, answers to it are
// rejected.
//
// The system's response to a POST from the proxy is never treated as an answer.
//
// A [Hook] follows each open approval in its own goroutine, which posts the event until the system
// has accepted it. One more goroutine detects approvals that have ended. The number of approvals
// that are posted at the same time is limited, both in total and for each principal.
package webhook
