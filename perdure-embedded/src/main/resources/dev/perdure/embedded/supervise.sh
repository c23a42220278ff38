#!/bin/sh
# Supervises the PostgreSQL server of one JVM: creates the data folder, starts the server, and stops it when the JVM
# says so or dies. The JVM holds the other end of standard input and does not close it while it lives. So the end of
# input means that the JVM is dead, whatever killed it, kill -9 included. Whenever that happens, this script completes
# the step that it has begun, and then stops the server.
#
# Answers on standard output: "ready", or "failed" followed by the output of the programs.
# Commands on standard input: "stop MODE" stops the server and keeps the folder. The end of input stops the server and
# deletes a temporary folder.
set -u
folder=$1   # the data are in its subfolder "pg"
bin=$2      # the folder of initdb, pg_ctl and postgres
port=$3
seconds=$4  # how long a start may take
at_end=$5   # "delete" for a temporary folder, "keep" for a persistent one
fixed=$6    # settings that the user cannot change, as options of postgres

# Ctrl-C signals the whole foreground process group, but only the JVM decides what it means. pg_ctl starts the server in
# its own session. A closed pipe must not end this script before it has stopped the server.
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

# Creates the data folder under another name first, so that a folder named "pg" is always complete.
make_data() {
  rm -rf "$folder"/pg.new-*
  new=$folder/pg.new-$$
  sync=
  if [ "$at_end" = delete ]; then sync=--no-sync; fi
  # The locales of operating systems differ between machines. PostgreSQL has a built-in one since version 17.
  locale=--locale=C
  known=$("$bin/initdb" --help)
  case $known in *--builtin-locale*) locale="$locale --locale-provider=builtin --builtin-locale=C.UTF-8" ;; esac
  # The password is random: to hash it 4096 times protects nothing and slows every connection down. Possible since 16.
  scram=
  case $known in *--set*) scram=--set=scram_iterations=1 ;; esac
  "$bin/initdb" --pgdata="$new" --username=postgres --pwfile="$folder/password" $sync \
    --auth-host=scram-sha-256 --auth-local=reject --encoding=UTF8 $locale $scram < /dev/null > "$folder/initdb.log" 2>&1 &&
    echo "include = '../settings.conf'" >> "$new/postgresql.conf" &&
    mv "$new" "$folder/pg" 2>> "$folder/initdb.log"
}

start() {
  "$bin/pg_ctl" -D "$folder/pg" -l "$folder/server.log" -w -t "$seconds" -o "-c port=$port $fixed" start < /dev/null
}

stop() {
  server=$(head -n 1 "$folder/pg/postmaster.pid")
  "$bin/pg_ctl" -D "$folder/pg" -m "$1" -w -t 20 stop || "$bin/pg_ctl" -D "$folder/pg" -m immediate -w -t 10 stop
  # pg_ctl waits until the pid file is gone. The process ends a moment later.
  tries=50
  while [ -n "$server" ] && [ $tries -gt 0 ] && alive "$server"; do
    sleep 0.02 || sleep 1
    tries=$((tries - 1))
  done
} < /dev/null > /dev/null 2>&1

# A dead process that is not reaped, as in containers without an init process, still has a pid, but no program.
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
