// Package replicas runs three petrigates on one PostgreSQL, before a server that counts
// what is executed and an operator who answers at another replica than was asked, and kills
// and cuts off what they stand on.
package replicas
