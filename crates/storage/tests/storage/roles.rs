//! Owners and grants come and go with their objects, and outlive the process.

use freestone_storage::io::Faulty;
use freestone_storage::{
    Access, Column, ColumnType, FIRST_ROLE, Object, Privileges, Role, RoleId, SequenceDefinition,
    Store, TableOptions, TableSchema,
};
use std::sync::Arc;

fn columns() -> TableSchema {
    let column = Column {
        name: "a".into(),
        kind: ColumnType::BigInt,
        nullable: true,
        default: None,
        identity: None,
        modifier: None,
        declared: None,
        generated: false,
        hidden: None,
    };
    TableSchema {
        columns: vec![column],
        ..TableSchema::default()
    }
}

/// A role that owns a schema with a table, a view and a sequence.
fn furnished(store: &Store) -> RoleId {
    let made = store.commit(|edit| {
        let id = edit.next_role();
        let role = Role {
            id,
            ..Role::default()
        };
        edit.roles_mut().put("ann", role);
        edit.make_for(id);
        edit.create_schema("s")?;
        edit.create_table("s", "t", columns(), TableOptions::default())?;
        edit.create_view("s", "v", "SELECT 1")?;
        let sequence = SequenceDefinition::of_type(ColumnType::BigInt, 1);
        edit.create_sequence("s", "q", sequence)?;
        Ok(id)
    });
    made.unwrap()
}

fn owned(store: &Store) -> usize {
    store.snapshot().roles().objects().count()
}

#[test]
fn what_is_made_has_an_owner_until_it_is_no_more() {
    let store = Store::in_memory();
    let ann = furnished(&store);
    assert_eq!(owned(&store), 4);
    let object = Object::view("s", "v");
    let grant = store.commit(|edit| {
        let mut access = edit.catalog().roles().access(&object);
        access.grant(RoleId::PUBLIC, Privileges::SELECT);
        edit.roles_mut().set_access(object.clone(), access);
        edit.replace_view("s", "v", "SELECT 2")
    });
    grant.unwrap();
    let access = store.snapshot().roles().access(&object);
    assert_eq!(access.owner, ann);
    assert_eq!(access.grants.len(), 1);
    // A view that gets an old name is another one.
    let again = store.commit(|edit| {
        edit.drop_view("s", "v")?;
        edit.create_view("s", "v", "SELECT 3")
    });
    again.unwrap();
    let access = store.snapshot().roles().access(&object);
    assert_eq!(access, Access::of(FIRST_ROLE));
    // A table keeps its owner under another name.
    store
        .commit(|edit| edit.rename_table("s", "t", "u"))
        .unwrap();
    let table = store.snapshot().table("s", "u").unwrap().id;
    assert_eq!(store.snapshot().roles().access(&table.into()).owner, ann);
    store.commit(|edit| edit.drop_sequence("s", "q")).unwrap();
    assert_eq!(owned(&store), 2);
    store.commit(|edit| edit.drop_schema("s", true)).unwrap();
    assert_eq!(owned(&store), 0);
}

#[test]
fn changes_side_by_side_are_merged_or_refused() {
    let store = Store::in_memory();
    let ann = furnished(&store);
    let grant = |object: Object, privilege: Privileges| {
        let mut transaction = store.begin().unwrap();
        let edited = transaction.edit(|edit| {
            let mut access = edit.catalog().roles().access(&object);
            access.grant(RoleId::PUBLIC, privilege);
            edit.roles_mut().set_access(object.clone(), access);
            Ok(())
        });
        edited.unwrap();
        transaction
    };
    let (view, schema) = (Object::view("s", "v"), Object::schema("s"));
    let one = grant(view.clone(), Privileges::SELECT);
    let two = grant(schema.clone(), Privileges::USAGE);
    let three = grant(view.clone(), Privileges::INSERT);
    one.commit().unwrap();
    two.commit().unwrap();
    assert_eq!(three.commit().unwrap_err().sqlstate(), "40001");
    let snapshot = store.snapshot();
    let roles = snapshot.roles();
    assert_eq!(
        roles.access(&view).grants[&RoleId::PUBLIC],
        Privileges::SELECT
    );
    assert_eq!(
        roles.access(&schema).grants[&RoleId::PUBLIC],
        Privileges::USAGE
    );
    assert_eq!(roles.access(&schema).owner, ann);
}

#[test]
fn they_outlive_the_process() {
    let files: Arc<Faulty> = Arc::default();
    let open = || Store::over_files(files.clone()).unwrap();
    let ann = {
        let store = open();
        let ann = furnished(&store);
        let dropped = store.commit(|edit| {
            edit.roles_mut().put("gone", Role::default());
            edit.drop_view("s", "v")
        });
        dropped.unwrap();
        store
            .commit(|edit| Ok(edit.roles_mut().remove("gone")))
            .unwrap();
        ann
    };
    // By the log, then by a manifest.
    for _ in 0..3 {
        let store = open();
        let snapshot = store.snapshot();
        assert_eq!(snapshot.roles().name(ann), Some("ann"));
        assert!(snapshot.roles().role("gone").is_none());
        assert_eq!(owned(&store), 3);
        store.checkpoint().unwrap();
    }
}
