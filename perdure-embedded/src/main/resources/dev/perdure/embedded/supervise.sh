#!/bin/sh
# Stands between one JVM and its PostgreSQL: makes the data folder, starts the server, and ends it when told to or when
# the JVM is gone. The JVM holds the other end of standard input and never closes it while it lives, so the end of
# input is its death, however it died; kill -9 included. At whatever moment that happens, what was begun is finished
# and then taken down again, here and nowhere else.
#
# Answers on standard output: "ready", or "failed" and what the tools said.
# Orders on standard input: "stop MODE" ends the server and keeps the folder; the end of input ends it for good.
set -u
folder=$1   # ours: the data are in "pg" below it
bin=$2      # initdb, pg_ctl, postgres
port=$3
seconds=$4  # how long a start may take
at_end=$5   # "delete" for a temporary folder, "keep" for a persistent one
fixed=$6    # settings nobody may change, in the form of postgres' command line

# Ctrl-C goes to the whole foreground group; only the JVM decides what it means. pg_ctl gives the server a session of
# its own. A closed pipe must not end us before the server has been stopped.
trap '' INT TERM HUP QUIT PIPE

main() {
  echo $$ > "$folder/supervisor.pid"
  if [ ! -d "$folder/pg" ]; then
    make_data || fail "$folder/initdb.log"
  fi
  if [ -f "$folder/server.log" ]; then
    mv -f "$folder/server.log" "$folder/server.log.old"
  fi
  start > "$folder/start.log" 2>&1 || { stop immediate; fail "$folder/start.log" "$folder/server.log"; }
  echo ready
  if read -r order mode && [ "$order" = stop ]; then
    stop "$mode"
    rm -f "$folder/supervisor.pid"
  else
    stop fast
    finish
  fi
}

# Under another name first: a data folder called "pg" is a complete one.
make_data() {
  rm -rf "$folder"/pg.new-*
  new=$folder/pg.new-$$
  sync=
  if [ "$at_end" = delete ]; then sync=--no-sync; fi
  # The operating system's locales differ from one machine to the next; PostgreSQL has one of its own, but only since 17.
  locale=--locale=C
  if "$bin/initdb" --help | grep -q builtin-locale; then
    locale="$locale --locale-provider=builtin --builtin-locale=C.UTF-8"
  fi
  "$bin/initdb" --pgdata="$new" --username=postgres --pwfile="$folder/password" $sync \
    --auth-host=scram-sha-256 --auth-local=reject --encoding=UTF8 $locale < /dev/null > "$folder/initdb.log" 2>&1 &&
    echo "include = '../settings.conf'" >> "$new/postgresql.conf" &&
    mv "$new" "$folder/pg" 2>> "$folder/initdb.log"
}

start() {
  "$bin/pg_ctl" -D "$folder/pg" -l "$folder/server.log" -w -t "$seconds" -o "-c port=$port $fixed" start < /dev/null
}

stop() {
  server=$(head -n 1 "$folder/pg/postmaster.pid")
  "$bin/pg_ctl" -D "$folder/pg" -m "$1" -w -t 20 stop || "$bin/pg_ctl" -D "$folder/pg" -m immediate -w -t 10 stop
  # pg_ctl waits for the pid file to go; the process goes a moment later.
  tries=50
  while [ -n "$server" ] && [ $tries -gt 0 ] && alive "$server"; do
    sleep 0.02 || sleep 1
    tries=$((tries - 1))
  done
} < /dev/null > /dev/null 2>&1

# A dead process that nobody has collected, as in containers without an init, still has a pid, but no program.
alive() {
  kill -0 "$1" && { [ ! -d /proc/self ] || [ -e "/proc/$1/exe" ]; }
}

fail() {
  echo failed
  tail -n 15 "$@" 2> /dev/null
  finish
  exit 1
}

finish() {
  if [ "$at_end" = delete ] && [ -f "$folder/owner.properties" ]; then
    rm -rf "$folder"
  else
    rm -f "$folder/supervisor.pid"
  fi
}

main
