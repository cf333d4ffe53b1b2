// Package rev lists the differences between the two families of MCP revisions
// that the proxy speaks, to clients and to servers: [Rev2025], which is 2025-11-25
// and what came before it, and [Rev2026], which is 2026-07-28.
//
// Code that has to tell them apart asks a field or a method of the [Rev] of the
// peer in question. A client and a server of one call can be of two families:
// then the proxy translates.
//
//	what                              2025-11-25 and before                2026-07-28                                   where
//
//	capabilities, who is there        initialize, once a session           _meta of each request, server/discover       PerRequest
//	session over HTTP                 Mcp-Session-Id, GET stream           none                                         front
//	headers that mirror the message   none                                 Mcp-Method, Mcp-Name, Mcp-Param-*            front
//	a server asks its client          a request on the stream of the call  result input_required, then the call again   InputRequired
//	end of an elicitation by URL      elicitationId, and a notification    none                                         CompleteURL
//	level of log messages             logging/setLevel                     _meta of each request                        LevelInMeta
//	changes of lists and resources    notifications,                       subscriptions/listen                         Subscriptions
//	                                  resources/subscribe
//	changes of roots                  notifications/roots/list_changed     none                                         Lacks
//	tasks                             core: the client asks for one        extension: the server makes one              TaskExtension
//	result of a task                  tasks/result                         member of tasks/get                          TaskExtension
//	input of a task                   a request on tasks/result            inputRequests of tasks/get, tasks/update     TaskExtension
//	news of a task                    notifications/tasks/status           notifications/tasks on a subscription        TaskExtension
//	list of tasks                     tasks/list                           none                                         Lacks
//	a result says what it is          no                                   resultType                                   ResultType, Result
//	how long a result may be kept     not said                             ttlMs, cacheScope                            Result
//	a resource that nobody has        error -32002                         error -32602                                 NoResource
//	a client cannot do what is needed error -32601                         error -32021, requiredCapabilities           front, tasks
//	errors over HTTP                  status 200                           statuses of their own                        events
//	methods                           those above                          those above                                  Lacks
//
// How a revision is negotiated with a server is the business of package upstream,
// and what a message looks like that of package wire.
package rev
