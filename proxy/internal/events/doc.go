// Package events writes what a client over HTTP is told: as server-sent events,
// or as one JSON object where that is all there is to say.
//
// A [Post] answers one POST. A [Push] is the GET stream of a session, for what
// belongs to no request. [Lines] are the one stream of a client of revision
// 2024-11-05. [Logs] keep the streams of a session for a client that lost one
// and comes back for the rest. All of them may be written to at once, and by
// those who do not wait for a client.
package events
