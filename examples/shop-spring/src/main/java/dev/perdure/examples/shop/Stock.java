package dev.perdure.examples.shop;

import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;

/** The shop's goods. */
public interface Stock extends JpaRepository<StockItem, String> {
    /** Takes pieces out. Returns 0 if there are not enough. */
    @Modifying
    @Query(
            "update StockItem s set s.available = s.available - :quantity where s.item = :item and s.available >= :quantity")
    int take(String item, int quantity);

    /** Puts pieces back. */
    @Modifying
    @Query("update StockItem s set s.available = s.available + :quantity where s.item = :item")
    void putBack(String item, int quantity);
}
