#!/usr/bin/env bash
# Gives the Kafka users of Timerbus' roles the rights that they need and no others:
#
#   KAFKA_ACLS='kafka-acls.sh --bootstrap-server HOST:PORT --command-config admin.properties' deploy/kafka/acls.sh [PREFIX]
#
# The brokers need an authorizer and allow.everyone.if.no.acl.found=false. The users are setup, ingest, scheduler, dispatcher and
# application. PREFIX is that of the bus URL, by default timerbus. Adding a right that exists changes nothing, so the script may
# run again, and should after an upgrade.
#
# setup creates the topics: run one process with it before the first start of the roles, and after an upgrade; `timerbus doctor` needs it, too.
# The roles then run with create=false. For user topics, add write to the dispatcher.
set -euo pipefail
prefix=${1:-timerbus}
read -ra acls <<<"${KAFKA_ACLS:-kafka-acls.sh --bootstrap-server localhost:9092}"

# Each line: user, operations, kind of resource, names. A name that ends with * stands for all names that begin with it.
rights() {
	sed "s/@/$prefix/g" <<-'TABLE'
		setup        All                       topic  @.*
		setup        Read,Describe             group  @.*
		ingest       Describe,DescribeConfigs  topic  @.*
		ingest       Read                      topic  @.commands @.incarnations
		ingest       Write                     topic  @.shards @.results @.dead
		ingest       Read                      group  @.commands.ingest
		scheduler    Describe,DescribeConfigs  topic  @.*
		scheduler    Read                      topic  @.shards @.incarnations
		scheduler    Write                     topic  @.due @.dead
		scheduler    Read                      group  @.shards.schedulers
		scheduler    Describe                  group  @.due.dispatchers
		dispatcher   Describe,DescribeConfigs  topic  @.*
		dispatcher   Read                      topic  @.due @.incarnations
		dispatcher   Write                     topic  @.fired @.results @.dead @.shards
		dispatcher   Read                      group  @.due.dispatchers
		application  Write                     topic  @.commands
		application  Read                      topic  @.fired @.results @.dead
	TABLE
}

rights | while read -r user operations kind names; do
	args=()
	for operation in ${operations//,/ }; do args+=(--operation "$operation"); done
	pattern=literal
	for name in $names; do
		[[ $name != *'*' ]] || pattern=prefixed
		args+=("--$kind" "${name%'*'}")
	done
	"${acls[@]}" --add --allow-principal "User:$user" --resource-pattern-type "$pattern" "${args[@]}" </dev/null
done
