// Package webhook asks people by a system of an operator. A signed POST tells the system
// that a call waits for an approval, and another that it waits no more. Its answers come
// back to an endpoint of their own:
//
//	POST /answer              a signed body that names the approval, its nonce, the decision and the actor
//	GET  /answer/ID/TOKEN     a page that shows the call; it changes nothing, since chat programs fetch links
//	POST /answer/ID/TOKEN     the decision that the token was made for
//
// The system signs with the secret that it shares with us, and a token is signed with it
// too: whoever has the link can use it. Both are bound to one approval by a nonce, which is
// derived from the secret, so that every process with the same secret and the same database
// takes the answer. An approval that waits no more takes none.
//
// The response to a POST answers nothing, whatever it says.
package webhook
