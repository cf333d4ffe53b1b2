// Package replicas runs three petrigates on one PostgreSQL, before a server that counts
// what is executed, and kills and cuts off what they stand on.
package replicas
