use super::*;
use freestone_storage::Store;

/// All layouts give Freestone's answers, for any number of attributes.
#[test]
fn layouts_give_freestones_answers() {
    for degree in [2, 8, 64] {
        let relation = Relation::new(4_000, degree, 3);
        let replica = Replica::new(&relation, &Model::ALL).unwrap();
        let store = Store::in_memory();
        let table = &relation.tables(&store).unwrap()[0].1;
        for share in [0.01, 0.5, 1.0] {
            let selection = Selection::new(&[0, degree / 2], &[degree - 1, 0], share);
            let expected = selection.ask(table).unwrap();
            assert!(expected.rows > 0);
            for model in Model::ALL {
                assert_eq!(replica.ask(model, &selection), expected, "{model} {degree}");
            }
        }
    }
}
