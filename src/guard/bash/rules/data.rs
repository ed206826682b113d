//! Databases, code that nobody has seen, and programs that multiply.

use super::super::inline::destroys;
use super::super::policy::{Family, Severity};
use super::table::{Rule, Shape, Test, except, flagged, shape};

/// A rule of this family with its usual weight.
const PLAIN: Rule = Rule {
    id: "",
    family: Family::Destroy,
    severity: Severity::Critical,
    on: true,
    reason: "",
    instead: "",
    test: Test::Replicates,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "destroy.statement",
        reason: "the statement destroys data in a database",
        instead: "write the statement into a migration and report it; nothing that drops or empties runs unseen",
        test: Test::Query(|query| destroys(query).is_some()),
        ..PLAIN
    },
    Rule {
        id: "destroy.database",
        reason: "it drops or empties a database",
        instead: "report that the database has to be dropped or reset, and let a person do it",
        test: Test::Shapes(DATABASES),
        ..PLAIN
    },
    Rule {
        id: "destroy.foreign-code",
        severity: Severity::High,
        reason: "code that came over the network runs unseen",
        instead: "download it to a file, read it, and say what it does before it is run",
        test: Test::Foreign(|foreign| foreign.network),
        ..PLAIN
    },
    Rule {
        id: "destroy.hidden-code",
        severity: Severity::High,
        reason: "an interpreter gets code that was decoded from something unknown",
        instead: "decode it to a file and read it first",
        test: Test::Foreign(|foreign| !foreign.network),
        ..PLAIN
    },
    Rule {
        id: "destroy.fork-bomb",
        reason: "it starts itself again and again until the machine stands still",
        instead: "leave it out",
        test: Test::Replicates,
        ..PLAIN
    },
];

const DATABASES: &[Shape] = &[
    shape(&["dropdb", "dropuser"], &[]),
    shape(&["mysqladmin"], &["drop"]),
    shape(&["prisma"], &["migrate", "reset"]),
    flagged(&["prisma"], &["db", "push"], &["--force-reset", "--accept-data-loss"]),
    shape(&["rails", "rake", "bin/rails"], &["db:drop*"]),
    shape(&["rails", "rake"], &["db:reset*"]),
    shape(&["rails", "rake"], &["db:schema:load*"]),
    shape(&["manage.py"], &["flush"]),
    shape(&["manage.py"], &["reset_db"]),
    shape(&["django-admin"], &["flush"]),
    shape(&["python", "python3"], &["manage.py", "flush"]),
    shape(&["python", "python3"], &["manage.py", "reset_db"]),
    shape(&["alembic"], &["downgrade", "base"]),
    shape(&["sequelize", "sequelize-cli"], &["db:drop*"]),
    flagged(&["knex"], &["migrate:rollback"], &["--all"]),
    shape(&["typeorm"], &["schema:drop"]),
    shape(&["php", "artisan"], &["migrate:fresh*"]),
    shape(&["php", "artisan"], &["db:wipe*"]),
    shape(&["php", "artisan"], &["migrate:reset*"]),
    shape(&["supabase"], &["db", "reset"]),
    shape(&["mix"], &["ecto.drop*"]),
    shape(&["mix"], &["ecto.reset*"]),
    shape(&["diesel"], &["database", "reset"]),
    shape(&["sqlx"], &["database", "drop"]),
    shape(&["sqlx"], &["database", "reset"]),
    except(&["flyway"], &["clean"], &[]),
    shape(&["influx"], &["delete"]),
    flagged(&["pg_restore"], &[], &["--clean", "-c"]),
    shape(&["liquibase"], &["dropAll"]),
    shape(&["liquibase"], &["drop-all"]),
    shape(&["nodetool"], &["clearsnapshot"]),
    shape(&["etcdctl"], &["del", "--prefix"]),
    flagged(&["etcdctl"], &["del"], &["--prefix", "--from-key"]),
    flagged(&["consul"], &["kv", "delete"], &["-recurse"]),
    shape(&["rabbitmqctl"], &["reset"]),
    shape(&["rabbitmqctl"], &["force_reset"]),
    shape(&["rabbitmqctl"], &["delete_*"]),
    flagged(&["kafka-topics", "kafka-topics.sh"], &[], &["--delete"]),
];
